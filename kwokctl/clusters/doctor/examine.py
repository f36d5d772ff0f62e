"""Carries out checks one after the other, so that none disturbs what another measures."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report, finding_of, not_made
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.doctor.machine.machine_checks import CHECKS as OF_MACHINES
from kwokctl.clusters.doctor.machine.machine_checks import ELSEWHERE
from kwokctl.clusters.status import RunStatus
from kwokctl.errors import KwokctlError
from kwokctl.host.platforms import is_linux
from kwokctl.model import ClusterName

if TYPE_CHECKING:
    from kwokctl.clusters.doctor.cluster.checked_cluster import CheckedCluster

T = TypeVar("T")
_WITHIN = 120.0
"""Seconds after which a check is given up."""


class Examined(msgspec.Struct, frozen=True, kw_only=True):
    """A check that was carried out."""

    check: str
    looks_at: str
    report: Report


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True):
    """The reports of all checks."""

    machine: Sequence[Examined]
    cluster: ClusterName | None = None
    """The one that was looked at."""
    of_cluster: Sequence[Examined] = ()

    @property
    def findings(self) -> list[DoctorFinding]:
        """All that is wrong."""
        return [each for one in (*self.machine, *self.of_cluster) for each in one.report.findings]


async def examine(machine: Machine, name: ClusterName | None) -> Diagnosis:
    """Look at this machine, and at a cluster; NotFoundError if it does not exist."""
    if name is None:
        checks = OF_MACHINES if is_linux() else ELSEWHERE
        return Diagnosis(machine=await _carried_out(checks, machine))
    # A sixth of all modules: they are not needed without a cluster.
    from kwokctl.clusters.doctor.cluster.checked_cluster import checked_cluster

    one = await checked_cluster(machine.home, name)
    of_machine = await _carried_out(OF_MACHINES, machine)
    return Diagnosis(machine=of_machine, cluster=name, of_cluster=await _visited(one))


async def _visited(one: "CheckedCluster") -> list[Examined]:
    """Carry out the checks of a cluster whose needs are met; a stopped cluster has few."""
    from kwokctl.clusters.doctor.cluster.cluster_checks import CHECKS as OF_CLUSTERS

    ready = {each.name for each in one.seen.components if each.status is RunStatus.READY}
    possible = [each for each in OF_CLUSTERS if ready.issuperset(each.needs)]
    done = {each.check: each for each in await _carried_out(possible, one)}
    return [done.get(each.name) or _left_out(each) for each in OF_CLUSTERS]


def _left_out(check: "Check[CheckedCluster]") -> Examined:
    names = " and ".join(f"'{name}'" for name in check.needs)
    report = not_made(f"not checked: {names} must be ready")
    return Examined(check=check.name, looks_at=check.looks_at, report=report)


async def _carried_out(checks: Iterable[Check[T]], subject: T) -> list[Examined]:
    return [
        Examined(check=each.name, looks_at=each.looks_at, report=await _report(each, subject))
        for each in checks
    ]


async def _report(check: Check[T], subject: T) -> Report:
    """Carry out a check; one that fails is a finding of its own."""
    try:
        async with asyncio.timeout(_WITHIN):
            return await check.look(subject)
    except TimeoutError:
        what, remedy = (
            f"no result within {_WITHIN:.0f} s",
            "repeat it when the machine is less busy",
        )
    except KwokctlError as e:
        return Report(state="unknown", findings=(finding_of(e),))
    except OSError as e:
        what, remedy = _of_system(e), "check the rights of this user"
    return Report(state="unknown", findings=(DoctorFinding(what=what, remedy=remedy),))


def _of_system(error: OSError) -> str:
    text = error.strerror or str(error)
    return f"'{error.filename}': {text}" if error.filename else text
