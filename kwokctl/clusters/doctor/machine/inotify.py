"""Whether programs can still have the kernel watch files, as kubelets and API servers do."""

import os
from contextlib import suppress
from pathlib import Path

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.machine import Machine

_NEEDED = 16
"""Instances that a cluster takes; a node of kind takes a hundred."""
_LEAST_WATCHES = 8_192
_FOR_KIND = (512, 524_288)
"""Instances and watches with which several nodes of kind work
(https://kind.sigs.k8s.io/docs/user/known-issues/#pod-errors-due-to-too-many-open-files)."""
_SETTINGS = "proc/sys/fs/inotify"
_LINK = "anon_inode:inotify"


async def look(machine: Machine) -> Report:
    """Compare what this user's processes have with the limits."""
    instances = machine.number(f"{_SETTINGS}/max_user_instances")
    watches = machine.number(f"{_SETTINGS}/max_user_watches")
    if not instances:
        return Report(state="unknown")
    used = sum(_instances(process) for process in (machine.root / "proc").glob("[0-9]*"))
    more, most = _FOR_KIND
    is_low = instances < more or watches < most
    note = f"kind with several nodes needs max_user_instances={more}, max_user_watches={most}"
    return Report(
        state=f"{used} of {instances} instances in use, {watches:,} watches",
        notes=(note,) if is_low else (),
        findings=(
            *_few("instances", instances - used, _NEEDED, more),
            *_few("watches", watches, _LEAST_WATCHES, most),
        ),
    )


def _few(what: str, left: int, needed: int, better: int) -> tuple[DoctorFinding, ...]:
    if left >= needed:
        return ()
    remedy = f"sudo sysctl fs.inotify.max_user_{what}={better}"
    return (DoctorFinding(what=f"only {left} more inotify {what} are available", remedy=remedy),)


def _instances(process: Path) -> int:
    """Count those of one process; none of another user's, which cannot be seen."""
    found = 0
    with suppress(OSError):
        if process.stat().st_uid == os.getuid():
            for link in (process / "fd").iterdir():
                with suppress(OSError):
                    found += str(link.readlink()) == _LINK
    return found


CHECK = Check(name="inotify", looks_at="how many files programs may watch", look=look)
