"""Programs of the system that tests need, by Debian's packages; they are installed only where the user agrees.

Tests install nothing: they are skipped where a program is missing. `make test-engines` installs what is missing before
its tests, as root and with INSTALL=yes or CI=true.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

DOCKER = {"dockerd": "docker.io", "iptables": "iptables"}
_PODMAN = ("podman", "netavark", "aardvark-dns", "runc", "catatonit")
PODMAN = {name: name for name in (*_PODMAN, "iptables")}
PODMAN_WITHOUT_ROOT = {
    **{name: name for name in (*_PODMAN, "slirp4netns")}, "newuidmap": "uidmap", "useradd": "passwd",
}  # fmt: skip
NODE_IMAGE = {"debootstrap": "debootstrap", "unshare": "util-linux"}
SHELLS = {"zsh": "zsh", "fish": "fish"}
BROWSER = {"chromium": "chromium"}
_NPM = {"npm": "npm"}
_GROUPS = (DOCKER, PODMAN, PODMAN_WITHOUT_ROOT, NODE_IMAGE, SHELLS, BROWSER, _NPM)
"""The package of each program, by what needs them: a package that a release lacks keeps no other from being installed."""

_ELSEWHERE = ("/usr/lib/podman", "/usr/libexec/podman")
"""Folders of programs that no PATH has."""
_PATIENCE = 600.0


class NotInstalledError(Exception):
    """A program is not installed; the message says how to install it."""


def need(programs: Mapping[str, str]) -> None:
    """Raise NotInstalledError if one of these programs is missing."""
    for name in missing(programs):
        raise NotInstalledError(
            f"'{name}' is not installed; as root, `make test-engines INSTALL=yes` installs it"
        )


def missing(programs: Mapping[str, str]) -> Sequence[str]:
    """Return those of the programs that this machine does not have."""
    places = os.pathsep.join((os.environ.get("PATH", os.defpath), *_ELSEWHERE))
    return [name for name in programs if not shutil.which(name, path=places)]


def provide() -> Sequence[str]:
    """Say what is missing, install it where that is allowed, and return the programs that are there now."""
    if not (lacking := _missing_of_all()):
        return []
    _say(f"missing programs: {', '.join(lacking)}; of Debian packages: {', '.join(_packages())}")
    if why := obstacle(os.environ, os.getuid()):
        _say(f"nothing is installed: {why}; tests that need them are skipped")
        return []
    _say("installing these packages")
    _apt("update")
    for group in _GROUPS:
        if missing(group):
            _apt("install", "-y", "--no-install-recommends", *group.values())
    return [name for name in lacking if name not in _missing_of_all()]


def _missing_of_all() -> Sequence[str]:
    return list(dict.fromkeys(name for group in _GROUPS for name in missing(group)))


def _packages() -> Sequence[str]:
    return sorted({group[name] for group in _GROUPS for name in missing(group)})


def obstacle(environment: Mapping[str, str], user: int) -> str:
    """Return why nothing is installed here; empty if nothing speaks against it."""
    agreed = environment.get("INSTALL") or ("yes" if environment.get("CI") == "true" else "no")
    if agreed != "yes":
        return "that needs INSTALL=yes or CI=true"
    if user != 0:
        return "only root may install them"
    return "" if shutil.which("apt-get") else "there is no apt-get"


def _apt(verb: str, *words: str) -> None:
    settings = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            ["apt-get", "-q", verb, *words],
            env=settings, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_PATIENCE, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        _say(f"'apt-get {verb}' has not ended after {_PATIENCE:.0f} s")
        return
    if done.returncode:
        _say(f"'apt-get {verb}' fails: {done.stderr.strip()[-300:]}")


def _say(text: str) -> None:
    print(f"test-engines: {text}", flush=True)
