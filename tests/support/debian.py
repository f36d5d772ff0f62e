"""Debian packages that tests need, installed where root runs them."""

import os
import shutil
import subprocess
from collections.abc import Sequence

_ELSEWHERE = ("/usr/lib/podman", "/usr/libexec/podman")
"""Folders of programs that no PATH has."""
_PATIENCE = 600.0


class NotInstallableError(Exception):
    """A program is not installed, and this is why it was not installed now."""


def install(programs: Sequence[str], packages: Sequence[str]) -> None:
    """Install `packages` unless all `programs` are there; raise NotInstallableError if that fails."""
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), *_ELSEWHERE))
    missing = [program for program in programs if not shutil.which(program, path=places)]
    if not missing:
        return
    lacking = f"'{missing[0]}' is not installed"
    if os.getuid() != 0:
        raise NotInstallableError(f"{lacking}, and only root may install it")
    if not shutil.which("apt-get"):
        raise NotInstallableError(f"{lacking}, and there is no apt-get to install it with")
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
