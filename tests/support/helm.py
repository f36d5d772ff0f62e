"""Helm, built once from its Go module and kept in the cache folder."""

import os
import pwd
import shutil
import subprocess
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

VERSION = "v3.19.0"
_HOME = Path(pwd.getpwuid(os.getuid()).pw_dir)
"""The user's own home folder: what was built is kept between runs, and Go has its modules there."""
_PATIENCE = 900.0


def helm() -> Path:
    """Return the program; skips the test where it is not there and cannot be built."""
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
        pytest.skip("Helm is built with Go, which is not installed")
    environment = {**os.environ, "HOME": str(_HOME), "GOBIN": str(folder)}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run(
        [go, "install", f"helm.sh/helm/v3/cmd/helm@{VERSION}"],
        cwd="/", env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE,
    )  # fmt: skip
    if done.returncode:
        pytest.skip(f"Helm cannot be built: {done.stderr.strip().splitlines()[-1]}")
