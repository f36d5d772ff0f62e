"""Whether this user may write where clusters and programs are kept, and no other may read there."""

import asyncio
import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine, existing
from kwokctl.clusters.state.saved import cluster_names

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


async def look(machine: Machine) -> Report:
    """Look at the work folder, the cache, and the folder of each cluster."""
    folders = machine.folders
    shared = _is_shared(machine.home.cache)
    findings = [
        finding
        for name, folder in folders.items()
        for finding in _of_folder(name, folder, to_write=folder != machine.home.cache or not shared)
    ]
    roots = [machine.home.paths(name).root for name in cluster_names(machine.home.workdir)]
    return Report(
        state=f"clusters in '{folders['KWOK_WORKDIR']}', programs in '{machine.home.cache}'",
        findings=(*findings, *(_open(root) for root in roots if root.stat().st_mode & _OTHERS)),
        notes=("this user cannot add programs: their folder belongs to another user",)
        if shared
        else (),
    )


def _is_shared(cache: Path) -> bool:
    """Return whether the programs are in a folder that this user may read only."""
    return not os.access(existing(cache), os.W_OK) and any(store_of(cache, here()).entries())


def _of_folder(variable: str, folder: Path, *, to_write: bool) -> Iterator[DoctorFinding]:
    there = existing(folder)
    if to_write and not os.access(there, os.W_OK | os.X_OK):
        yield DoctorFinding(
            what=f"this user cannot write to '{there}'",
            remedy=f"correct its owner, or choose another folder with {variable}",
        )
    if os.statvfs(there).f_flag & os.ST_NOEXEC:
        yield DoctorFinding(
            what=f"programs in '{there}' cannot be run: it is mounted with 'noexec'",
            remedy=f"choose another folder with {variable}",
        )


def _open(root: Path) -> DoctorFinding:
    return DoctorFinding(
        what=f"other users may enter '{root}', where the keys of a cluster are",
        remedy=f"chmod 700 {root}",
        repair=Repair(
            what=f"Closing '{root}' to other users",
            do=partial(asyncio.to_thread, root.chmod, 0o700),
        ),
    )


CHECK = Check(name="rights", looks_at="the folders of clusters and programs", look=look)
