"""Control groups of a test's own, with cgroup v1 and v2; only root can make them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.installed import until

_TOP = Path("/sys/fs/cgroup")
_V1 = {"io": "blkio"}
"""How v1 calls a controller that v2 calls otherwise."""


@dataclass(frozen=True, slots=True)
class Group:
    """A group with one below it, as a container has one in which a service runs."""

    folder: Path
    is_first: bool
    """Whether it is one of cgroup v1."""

    def write(self, first: tuple[str, str], second: tuple[str, str]) -> None:
        """Write a file of the group: one for v1, or one for v2."""
        name, text = first if self.is_first else second
        # The speed of a disk is the one limit of v1 that does not hold for the groups below.
        folder = self.folder / "inner" if name.startswith("blkio") else self.folder
        (folder / name).write_text(text, encoding="ascii")

    def times_held_back(self) -> int:
        """Return in how many periods the group had used its processor time up before they ended."""
        lines = (self.folder / "cpu.stat").read_text().splitlines()
        return int(dict(line.split() for line in lines)["nr_throttled"])

    def entered(self, *words: str) -> list[str]:
        """Return the command that runs words in the inner group."""
        enter = 'echo $$ > "$0/cgroup.procs" && exec "$@"'
        return ["sh", "-c", enter, str(self.folder / "inner"), *words]


@contextmanager
def group(controller: str) -> Iterator[Group]:
    """Make a group; skip where that cannot be."""
    first = _TOP / _V1.get(controller, controller)
    is_first = (first / "cgroup.procs").exists()
    folder = (first if is_first else _TOP) / f"kwokctl-test-{uuid4().hex[:8]}"
    try:
        if not is_first:
            (_TOP / "cgroup.subtree_control").write_text(f"+{controller}", encoding="ascii")
        (folder / "inner").mkdir(parents=True)
    except OSError as e:
        pytest.skip(f"no control group of '{controller}' can be made here: {e}")
    try:
        yield Group(folder, is_first)
    finally:
        # What ran in it may still be about to end.
        for each in (folder / "inner", folder):
            until("the group is empty", partial(_is_removed, each))


def _is_removed(folder: Path) -> bool:
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


_PERIOD = 100_000
"""Microseconds in which a group uses its time up."""


@contextmanager
def slowed(speed: float) -> Iterator[Group]:
    """Make a group whose programs have, all together, a part of what all processors can do."""
    quota = int(speed * len(os.sched_getaffinity(0)) * _PERIOD)
    with group("cpu") as slow:
        slow.write(("cpu.cfs_quota_us", str(quota)), ("cpu.max", f"{quota} {_PERIOD}"))
        yield slow


def disk_of(folder: Path) -> str:
    """Return the numbers of the whole disk that a folder is on; skip if it is on none."""
    number = folder.stat().st_dev
    at = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not at.exists():
        pytest.skip(f"'{folder}' is on no disk whose speed the kernel can limit")
    whole = at.resolve()
    return ((whole.parent if (whole / "partition").exists() else whole) / "dev").read_text().strip()
