"""Whether disks have room, and how long etcd would wait for a write to be on one."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryFile

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, not_made
from kwokctl.clusters.doctor.machine.checked_machine import Machine, existing
from kwokctl.components.definitions.etcd import EtcdOptions
from kwokctl.config.quantity import to_text

_LEAST = 1 << 30
"""Bytes that a small cluster with its programs takes, and that must be free."""
_LEAST_FILES = 1_000
_FREES = {
    "KWOK_WORKDIR": "kwokctl delete cluster --name NAME",
    "XDG_CACHE_HOME": "kwokctl artifacts prune",
}
"""By the variable that chooses a folder, what frees space there."""
_SLOW = 0.010
"""Seconds: etcd expects 99 of 100 writes of its log to be faster
(https://etcd.io/docs/v3.6/faq/, "What does the etcd warning ... mean")."""
_WRITES, _BLOCK = 30, b"\0" * 2_048
"""The number and the content of test writes: about a batch of requests in etcd's log."""


async def look(machine: Machine, measured: Callable[[Path], float] | None = None) -> Report:
    """Look at the space, and write some blocks, each of which must be on the disk before the next.

    `measured` returns how many seconds one takes in a folder.
    """
    folder = existing(machine.home.workdir.root)
    full = [f for name, each in machine.folders.items() for f in _full(name, existing(each))]
    if not os.access(folder, os.W_OK):
        return not_made(f"not measured: '{folder}' is read-only", findings=tuple(full))
    try:
        took = await asyncio.to_thread(measured or sync_seconds, folder)
    except OSError as e:
        return Report(
            state=f"nothing can be written: {e.strerror}",
            findings=tuple(full or [_failed(folder, e)]),
        )
    is_off = machine.options.of(EtcdOptions).fsync == "off"
    return Report(
        state=f"{to_text(_free(folder))} free, a write is on the disk after {took * 1000:.1f} ms",
        findings=(*full, *(() if is_off else _slow(took))),
    )


def _failed(folder: Path, error: OSError) -> DoctorFinding:
    """Return why nothing could be written though there is room, as above a quota."""
    return DoctorFinding(
        what=f"this user cannot write to '{folder}': {error.strerror}",
        remedy="check the disk and the user's quota, or choose another folder with KWOK_WORKDIR",
    )


def sync_seconds(folder: Path) -> float:
    """Return how long a small write takes until it is on the disk: the middle of some."""
    took: list[float] = []
    # The file has no name, so that nothing of it stays whatever happens.
    with TemporaryFile(dir=folder, buffering=0) as file:
        for _ in range(_WRITES):
            began = time.monotonic()
            file.write(_BLOCK)
            os.fdatasync(file.fileno())
            took.append(time.monotonic() - began)
    return median(took)


def _slow(took: float) -> tuple[DoctorFinding, ...]:
    if took <= _SLOW:
        return ()
    what = f"a write takes {took * 1000:.0f} ms to be on the disk, and etcd waits for it"
    remedy = "choose a faster disk with KWOK_WORKDIR, or create clusters with --etcd-fsync off"
    return (DoctorFinding(what=what, remedy=remedy),)


def _full(variable: str, folder: Path) -> Iterator[DoctorFinding]:
    remedy = (
        f"free space there, as with '{_FREES[variable]}', or choose another folder with {variable}"
    )
    if (free := _free(folder)) < _LEAST:
        some = f"only {to_text(free)} are" if free else "no space is"
        yield DoctorFinding(what=f"{some} left in '{folder}'", remedy=remedy)
    found = os.statvfs(folder)
    if found.f_files and found.f_favail < _LEAST_FILES:
        what = f"only {found.f_favail:,} more files can be made in '{folder}'"
        yield DoctorFinding(what=what, remedy=remedy)


def _free(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


CHECK = Check(name="disk", looks_at="free space, and the speed of the disk", look=look)
