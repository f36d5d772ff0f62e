"""Whether the programs in the store are what was stored."""

import asyncio
from functools import partial
from pathlib import Path

from kwokctl.artifacts import store_maintenance
from kwokctl.artifacts.program_platform import here
from kwokctl.artifacts.resolve_programs import store_of
from kwokctl.artifacts.store import Entry
from kwokctl.artifacts.store_maintenance import DamagedProgramsError
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.programs.needed import source_of
from kwokctl.config.quantity import to_text
from kwokctl.host.files import remove_tree
from kwokctl.progress import Silent


async def look(machine: Machine) -> Report:
    """Read every program in full, and compare it with its checksum."""
    cache = machine.home.cache
    entries = await asyncio.to_thread(store_maintenance.entries, cache)
    damaged: tuple[Entry, ...] = ()
    try:
        await asyncio.to_thread(store_maintenance.verify, cache, Silent())
    except DamagedProgramsError as e:
        damaged = e.entries
    halves = list(store_of(cache, here()).broken())
    size = to_text(sum(entry.size for entry in entries))
    return Report(
        state=f"{len(entries)} programs, {size}, each with its checksum",
        findings=(*(_changed(machine, each) for each in damaged), *map(_half, halves)),
    )


def _changed(machine: Machine, entry: Entry) -> DoctorFinding:
    repair = partial(
        store_maintenance.repair,
        [entry],
        source=source_of(machine.options.programs.source),
        cache=machine.home.cache,
        progress=machine.home.progress,
    )
    return DoctorFinding(
        what=f"'{entry.path}' has changed since it was stored",
        remedy="kwokctl artifacts verify --repair",
        repair=Repair(what=f"Getting {entry.name} {entry.version} again", do=repair),
    )


def _half(folder: Path) -> DoctorFinding:
    return DoctorFinding(
        what=f"'{folder}' holds an incomplete program",
        remedy="kwokctl artifacts prune",
        repair=Repair(
            what=f"Removing '{folder}'", do=partial(asyncio.to_thread, remove_tree, folder)
        ),
    )


CHECK = Check(name="store", looks_at="the programs in the store, and their checksums", look=look)
