"""Debian packages that tests need, installed where root runs them."""

import fcntl
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_ELSEWHERE = ("/usr/lib/podman", "/usr/libexec/podman")
"""Folders of programs that no PATH has."""
_LOCK = Path("/var/lib/apt/kwokctl-tests.lock")
"""In a folder that only root may write to."""
_PATIENCE = 600.0


class NotInstallableError(Exception):
    """A program is not installed, and this is why it was not installed now."""


def install(programs: Sequence[str], packages: Sequence[str]) -> None:
    """Install `packages` unless all `programs` are there; raise NotInstallableError if that fails."""
    if not (missing := _missing(programs)):
        return
    lacking = f"'{missing[0]}' is not installed"
    if os.getuid() != 0:
        raise NotInstallableError(f"{lacking}, and only root may install it")
    if not shutil.which("apt-get"):
        raise NotInstallableError(f"{lacking}, and there is no apt-get to install it with")
    # Tests that run beside these may install, too.
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _missing(programs):
            _install(packages, lacking)


def _missing(programs: Sequence[str]) -> list[str]:
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), *_ELSEWHERE))
    return [program for program in programs if not shutil.which(program, path=places)]


def _install(packages: Sequence[str], lacking: str) -> None:
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        try:
            done = subprocess.run(
                ["apt-get", "-q", *words],
                env=settings, capture_output=True, timeout=_PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as e:
            raise NotInstallableError(f"{lacking}, and 'apt-get {words[0]}' does not end") from e
        if done.returncode:
            raise NotInstallableError(f"{lacking}, and 'apt-get {words[0]}' fails")
