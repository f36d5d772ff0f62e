"""Programs in Go that are part of the tests, built once; Go fetches modules that its cache lacks."""

import fcntl
import hashlib
import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

_HOME = pwd.getpwuid(os.getuid()).pw_dir
"""The user's own home folder, where Go has its modules; tests have another."""
_KEPT = Path(_HOME) / ".cache" / "kwokctl" / "tests"


def built(name: str, folder: Path, *, is_static: bool = False) -> Path:
    """Have `tests/support/NAME` in a folder; skips the test where it cannot be built.

    What is static runs in a container without any library. A program is kept in the cache folder
    for its sources and the version of Go.
    """
    source = Path(__file__).parent / name
    files = sorted(each for each in source.rglob("*") if each.is_file())
    sources = [f"\0{each.relative_to(source)}\0".encode() + each.read_bytes() for each in files]
    mark = _mark(*sources, is_static=is_static)
    return _kept(name, mark, folder / name, lambda at: _built(source, ".", at, is_static=is_static))


def built_from(wanted: str, package: str, folder: Path) -> Path:
    """Build a program of a Go module, such as `./cmd/NAME`, as `built` does.

    It is kept by the version of the module (`PATH@VERSION`), whose sources stay the same.
    """
    program = folder / package.rpartition("/")[2]
    name = f"{program.name}-{wanted.rpartition('@')[2]}"
    mark = _mark(wanted.encode(), package.encode(), is_static=False)
    return _kept(name, mark, program, lambda at: _built(module(wanted), package, at))


def _kept(name: str, mark: str, program: Path, build: Callable[[Path], Path]) -> Path:
    """Copy a program from the cache folder, where it is built first if no one of this mark is there."""
    kept = _KEPT / f"{name}-{mark}"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with (_KEPT / f"{name}.lock").open("w") as lock:  # several processes of tests need it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            for old in _KEPT.glob(f"{name}-{'[0-9a-f]' * len(mark)}"):
                old.unlink()
            shutil.copy2(build(program), f"{kept}.new")
            Path(f"{kept}.new").rename(kept)
    shutil.copy2(kept, program)
    return program


def _mark(*sources: bytes, is_static: bool) -> str:
    """Return what is the same as long as Go builds the same."""
    version = subprocess.run([_go(), "version"], capture_output=True, check=True).stdout
    settings = os.environ.get("GOFLAGS", ""), os.environ.get("CGO_ENABLED", ""), str(is_static)
    found = hashlib.sha256(b"\0".join((version, *map(str.encode, settings))))
    for source in sources:
        found.update(source)
    return found.hexdigest()[:16]


def _go() -> str:
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go is not installed")
    return go


def _built(source: Path, package: str, program: Path, *, is_static: bool = False) -> Path:
    result = subprocess.run(
        [_go(), "build", "-o", program, package],
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
    result = subprocess.run(
        [_go(), "mod", "download", "-json", wanted],
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
