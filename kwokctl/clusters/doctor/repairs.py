"""Carries out what removes the causes of findings; each repair is named before it begins."""

from collections.abc import Iterable, Sequence

import msgspec

from kwokctl.clusters.doctor.check import DoctorFinding, Repair
from kwokctl.errors import KwokctlError
from kwokctl.progress import Progress


class Repaired(msgspec.Struct, frozen=True, kw_only=True):
    """A repair that was tried."""

    what: str
    failure: str = ""
    """Why it did not work; empty if it did."""


def repairs_of(findings: Iterable[DoctorFinding]) -> list[Repair]:
    """Return the repairs of findings; one that removes several is there once."""
    by_title = {each.repair.what: each.repair for each in findings if each.repair}
    return list(by_title.values())


async def carry_out_repairs(repairs: Sequence[Repair], progress: Progress) -> list[Repaired]:
    """Carry out each repair; one that fails does not keep the others."""
    return [await _repaired(each, progress) for each in repairs]


async def _repaired(repair: Repair, progress: Progress) -> Repaired:
    try:
        with progress.step(repair.what):
            await repair.do()
    except (KwokctlError, OSError) as e:
        progress.warn(f"{repair.what}: {e}")
        return Repaired(what=repair.what, failure=str(e))
    return Repaired(what=repair.what)
