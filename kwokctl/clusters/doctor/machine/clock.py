"""Whether the clock was set back: certificates and Leases of clusters would be of the future."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import kwokctl
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.state.saved import cluster_names

_TOLERATED = 60.0
"""Seconds."""


async def look(machine: Machine) -> Report:
    """Compare the clock with the times at which files were written."""
    now = machine.wall()
    newest = max(_written(machine))
    findings = []
    if newest[0] > now + _TOLERATED:
        what = f"the clock is {newest[0] - now:,.0f} s behind the time of '{newest[1]}'"
        findings.append(
            DoctorFinding(what=what, remedy="set the clock, as with: timedatectl set-ntp true")
        )
    shown = datetime.fromtimestamp(now, UTC)
    return Report(state=f"{shown:%Y-%m-%dT%H:%M:%SZ}", findings=tuple(findings))


def _written(machine: Machine) -> Iterator[tuple[float, Path]]:
    yield _of(Path(kwokctl.__file__))
    for name in cluster_names(machine.home.workdir):
        paths = machine.home.paths(name)
        yield from map(_of, filter(Path.exists, (paths.saved, paths.pki / "ca.crt")))


def _of(file: Path) -> tuple[float, Path]:
    return file.stat().st_mtime, file


CHECK = Check(name="clock", looks_at="the clock, and times of files", look=look)
