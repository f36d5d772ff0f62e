"""A check as data: what it looks at, and how. What it finds comes with its remedy."""

from collections.abc import Awaitable, Callable, Collection
from typing import Generic, TypeVar

import msgspec

from kwokctl.clusters.overview.figures import Problem
from kwokctl.errors import KwokctlError
from kwokctl.model import ComponentName

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
