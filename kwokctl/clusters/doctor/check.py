"""A check as data: what it looks at, and how; its findings come with their remedies, and with repairs.

Each repair is named before it begins.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from typing import Generic, TypeVar

import msgspec

from kwokctl.clusters.overview.figures import Problem
from kwokctl.errors import KwokctlError
from kwokctl.model import ComponentName
from kwokctl.progress import Progress

T = TypeVar("T")


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """Something that removes the cause of a finding, loses nothing, and is safe to repeat."""

    what: str
    """The title of the step: `Starting 'etcd'`."""
    do: Callable[[], Awaitable[object]]


class DoctorFinding(Problem, frozen=True, kw_only=True):
    """Something that is wrong."""

    repair: Repair | None = None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of one check."""

    state: str
    """The figures, in a few words."""
    notes: tuple[str, ...] = ()
    """Facts that are good to know, though nothing is wrong."""
    findings: tuple[DoctorFinding, ...] = ()
    made: bool = True
    """Whether it was looked at; if not, the state says why."""


def not_made(why: str, *, findings: tuple[DoctorFinding, ...] = ()) -> Report:
    """Return the report of a check that was not made."""
    return Report(state=why, findings=findings, made=False)


class Check(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """One thing to look at, of a machine or of a cluster."""

    name: str
    looks_at: str
    look: Callable[[T], Awaitable[Report]]
    needs: Collection[ComponentName] = ()
    """The components of a cluster that have to be ready for it."""


def finding_of(error: KwokctlError) -> DoctorFinding:
    """Return an error as a finding."""
    return DoctorFinding(what=str(error), remedy=error.hint or "see 'kwokctl doctor -v DEBUG'")


def found(problem: Problem, repair: Repair | None = None) -> DoctorFinding:
    """Return a problem as a finding."""
    return DoctorFinding(what=problem.what, remedy=problem.remedy, repair=repair)


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
