"""Builds programs in Go that are part of the tests; Go fetches modules that its cache lacks."""

import json
import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pytest

_HOME = pwd.getpwuid(os.getuid()).pw_dir
"""The user's own home folder, where Go has its modules; tests have another."""


def built(name: str, folder: Path, *, is_static: bool = False) -> Path:
    """Build `tests/support/NAME` into a folder; skips the test where that is not possible.

    What is static runs in a container without any library.
    """
    return _built(Path(__file__).parent / name, ".", folder / name, is_static=is_static)


def built_from(wanted: str, package: str, folder: Path) -> Path:
    """Build a program of a Go module, such as `./cmd/NAME`, as `built` does."""
    return _built(module(wanted), package, folder / package.rpartition("/")[2])


def _built(source: Path, package: str, program: Path, *, is_static: bool = False) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")
    result = subprocess.run(
        [go, "build", "-o", program, package],
        cwd=source,
        env={
            "GOMODCACHE": f"{_HOME}/go/pkg/mod",
            "HOME": _HOME,
            **({"CGO_ENABLED": "0"} if is_static else {}),
            **_inherited(),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        pytest.skip(f"{program.name} cannot be built: {result.stderr.strip().splitlines()[-1]}")
    return program


def module(wanted: str) -> Path:
    """Return the folder of a Go module, which Go fetches; skips the test where that is not possible."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")
    result = subprocess.run(
        [go, "mod", "download", "-json", wanted],
        env={"GOMODCACHE": f"{_HOME}/go/pkg/mod", "HOME": _HOME, **_inherited()},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        pytest.skip(f"the Go module {wanted} is not available here")
    return Path(json.loads(result.stdout)["Dir"])


def _inherited() -> dict[str, str]:
    """Return our environment without the folders of tests: what was built is kept between runs."""
    of_tests = {"HOME", "XDG_CACHE_HOME"}
    return {name: value for name, value in os.environ.items() if name not in of_tests}
