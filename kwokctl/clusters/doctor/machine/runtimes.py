"""Checks which runtimes work on this machine, and says why others do not."""

import asyncio

from kwokctl import registry
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, finding_of
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.errors import KwokctlError, UnavailableError
from kwokctl.host.platforms import check_platform


async def look(machine: Machine) -> Report:
    """Ask each runtime; those that do not work are a finding only where a new cluster wants one."""
    try:
        check_platform()
    except UnavailableError as e:
        return Report(state="none would work", findings=(finding_of(e),))
    names = registry.names()
    errors = dict(
        zip(names, await asyncio.gather(*(_error(machine, n) for n in names)), strict=True)
    )
    working = [name for name, error in errors.items() if error is None]
    notes = [f"not {name}: {error}" for name, error in errors.items() if error]
    return Report(
        state=f"{', '.join(working) or 'none'} would work",
        notes=tuple(notes),
        findings=tuple(_findings(machine, errors)),
    )


def _findings(machine: Machine, errors: dict[str, KwokctlError | None]) -> list[DoctorFinding]:
    options = machine.options
    wanted = [options.runtime] if options.runtime else list(options.runtimes)
    failed = [error for name in wanted if (error := errors.get(name))]
    if len(failed) < len(wanted):
        return []
    names = ", ".join(f"'{name}'" for name in wanted)
    remedy = "; ".join(error.hint for error in failed if error.hint)
    return [DoctorFinding(what=f"no runtime works: {names}", remedy=remedy)]


async def _error(machine: Machine, name: str) -> KwokctlError | None:
    try:
        await machine.home.runtime(name).check()
    except KwokctlError as e:
        return e
    return None


CHECK = Check(name="runtimes", looks_at="the runtimes that clusters can choose", look=look)
