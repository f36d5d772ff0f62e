"""Checks the limits of open files and processes."""

from collections.abc import Iterator

from kwokctl.clusters.doctor.check import Check, DoctorFinding, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.host.cgroups import groups, number

_LEAST_FILES = 4_096
"""A connection is a file: the API server has one for each client, the controller one for each watch."""
_LEAST_TASKS = 500
"""Threads and processes of a small cluster, with some to spare."""


async def look(machine: Machine) -> Report:
    """Look at the limits of this process, which its children inherit, and of its group."""
    import resource  # not on Windows

    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    is_endless = most == resource.RLIM_INFINITY
    return Report(
        state=f"{'any number of' if is_endless else f'{most:,}'} open files a process",
        findings=(*(() if is_endless else _files(most)), *_tasks(machine)),
    )


def _files(most: int) -> Iterator[DoctorFinding]:
    if most < _LEAST_FILES:
        yield DoctorFinding(
            what=f"a process may open {most:,} files, and large clusters need {_LEAST_FILES:,}",
            remedy="raise the limit 'nofile', as in /etc/security/limits.conf, and log in again",
        )


def _tasks(machine: Machine) -> Iterator[DoctorFinding]:
    left = [*_left(machine)]
    if left and min(left) < _LEAST_TASKS:
        yield DoctorFinding(
            what=f"{max(min(left), 0):,} more threads can be started, and a cluster needs {_LEAST_TASKS}",
            remedy="raise the limit of the container (--pids-limit) or of the session or service (TasksMax)",
        )


def _left(machine: Machine) -> Iterator[int]:
    """Yield how many more processes and threads each group of this process may have."""
    for group in groups("pids", machine.root):
        most = number(group / "pids.max")
        if most is not None:
            yield most - (number(group / "pids.current") or 0)


CHECK = Check(name="limits", looks_at="the limits of open files and threads", look=look)
