"""Helm, built once from its Go module and kept in the cache folder.

`python -m tests.support.helm` builds it before the tests: on a busy machine that takes longer than a test may.
"""

import os
import pwd
import shutil
import subprocess
import sys
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

VERSION = "v3.19.0"
_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
"""The user's own home folder: what was built is kept between runs, and Go has its modules there."""
_PATIENCE = 1500.0


def helm() -> Path:
    """Return the program; skips the test where it is not there and cannot be built."""
    try:
        return built()
    except NotBuiltError as e:
        pytest.skip(str(e))


class NotBuiltError(Exception):
    """Helm is not there, and this is why it was not built now."""


def built() -> Path:
    """Return the program, which is built unless it is there; raises NotBuiltError."""
    folder = _HOME / ".cache" / "kwokctl" / "tests" / f"helm-{VERSION}"
    program = folder / "helm"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:  # tests of two lanes need it
        flock(lock, LOCK_EX)
        if not program.exists():
            _build(folder)
    return program


def _build(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise NotBuiltError("Helm is built with Go, which is not installed")
    environment = {**os.environ, "HOME": str(_HOME), "GOBIN": str(folder)}
    environment.pop("XDG_CACHE_HOME", None)
    try:
        done = subprocess.run(
            [go, "install", f"helm.sh/helm/v3/cmd/helm@{VERSION}"],
            cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired as e:
        raise NotBuiltError(f"Helm is not built after {_PATIENCE:.0f} s") from e
    if done.returncode:
        raise NotBuiltError(f"Helm cannot be built: {done.stderr.strip().splitlines()[-1]}")


if __name__ == "__main__":
    try:
        built()
    except NotBuiltError as e:
        sys.exit(f"helm: {e}; tests that need it are skipped")
