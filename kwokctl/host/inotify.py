"""Reads how many more inotify instances the kernel gives to this user's programs.

A program needs one to watch files. The kernel counts them for each user, in all containers that are not in a user
namespace of their own, and allows 128 by default (inotify(7)); a kube-apiserver takes six, a node of kind thirty.
"""

import os
from contextlib import suppress
from pathlib import Path

import msgspec

SETTING = "fs.inotify.max_user_"
"""The prefix of the limits' names, as `sysctl` has them."""
ENOUGH = (512, 524_288)
"""Instances and watches with which several nodes of kind work
(https://kind.sigs.k8s.io/docs/user/known-issues/#pod-errors-due-to-too-many-open-files)."""
_SETTINGS = "proc/sys/fs/inotify"
_LINK = "anon_inode:inotify"


class Inotify(msgspec.Struct, frozen=True, kw_only=True):
    """The inotify instances of this user's processes, and the number that the kernel allows."""

    used: int
    instances: int
    """The limit; 0 if it cannot be read."""
    watches: int
    """The limit; 0 if it cannot be read."""

    @property
    def left(self) -> int:
        """Return how many more instances there may be."""
        return self.instances - self.used


def limits(root: Path = Path("/")) -> Inotify:
    """Read the limits and count the instances of this user's processes."""
    used = sum(_instances(process) for process in (root / "proc").glob("[0-9]*"))
    instances, watches = (_number(root / _SETTINGS / f"max_user_{what}") for what in _WHAT)
    return Inotify(used=used, instances=instances, watches=watches)


def remedy(what: str) -> str:
    """Return the command that raises the limit of `instances` or `watches`."""
    return f"sudo sysctl {SETTING}{what}={ENOUGH[_WHAT.index(what)]}"


_WHAT = ("instances", "watches")


def _instances(process: Path) -> int:
    """Count those of one process; none of another user's, which cannot be seen."""
    found = 0
    with suppress(OSError):
        if process.stat().st_uid == os.getuid():
            for link in (process / "fd").iterdir():
                with suppress(OSError):
                    found += str(link.readlink()) == _LINK
    return found


def _number(file: Path) -> int:
    try:
        return int(file.read_text(encoding="ascii"))
    except (OSError, ValueError):
        return 0
