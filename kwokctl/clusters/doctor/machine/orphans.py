"""Finds processes and containers of deleted clusters, which hold ports and memory."""

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from kwokctl import registry
from kwokctl.clusters.doctor.check import Check, DoctorFinding, Repair, Report
from kwokctl.clusters.doctor.machine.checked_machine import Machine
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.state.saved import cluster_names
from kwokctl.errors import KwokctlError
from kwokctl.host.noted_locks import is_locked
from kwokctl.host.processes.supervise import Process, leading_below, stop
from kwokctl.model import ClusterName
from kwokctl.runtime import FindsRemains, Runtime

_GRACE = 10.0
"""Seconds that a process has to end by itself."""
_OURS = "kwokctl."
"""The prefix of modules that are components."""
_TOOLS = frozenset({"kubectl", "etcdctl", "etcdutl", "kind"})
"""Programs of the store that are no components: their users end them."""


async def look(machine: Machine) -> Report:
    """Look at the processes of this user, and ask each runtime that works."""
    processes = await asyncio.to_thread(_orphans, machine)
    runtimes = [one for name in registry.names() if (one := _loaded(machine, name))]
    containers = await asyncio.gather(*(_remains(machine, each) for each in runtimes))
    findings = [
        *(_of_processes(machine, name, each) for name, each in processes.items()),
        *(
            _of_containers(machine, runtime, name, each)
            for runtime, found in zip(runtimes, containers, strict=True)
            for name, each in found.items()
        ),
    ]
    return Report(state="some" if findings else "none", findings=tuple(findings))


def _orphans(machine: Machine) -> dict[ClusterName, list[Process]]:
    """Return the components that run in the folders of clusters that do not exist."""
    found: dict[ClusterName, list[Process]] = {}
    clusters = machine.home.workdir.clusters
    for process, folder in leading_below(clusters):
        name = ClusterName(folder.relative_to(clusters).parts[0])
        if _is_gone(machine, name) and _is_component(machine, process):
            found.setdefault(name, []).append(process)
    return found


def _is_gone(machine: Machine, name: ClusterName) -> bool:
    """Return whether there is no such cluster, and none is being made or deleted."""
    is_there = name in cluster_names(machine.home.workdir)
    return not is_there and not is_locked(machine.home.workdir.cluster_lock(name))


def _is_component(machine: Machine, process: Process) -> bool:
    """Return whether a process runs a program that kwokctl launches, not a user's shell say."""
    words = process.words
    if any(word.startswith(_OURS) for word in words[1:5]):
        return True
    program = Path(words[0]) if words else Path()
    return program.is_relative_to(machine.home.cache.absolute()) and program.name not in _TOOLS


def _of_processes(machine: Machine, name: ClusterName, found: Collection[Process]) -> DoctorFinding:
    ids = ", ".join(str(each.pid) for each in found)
    return DoctorFinding(
        what=f"processes of a cluster '{name}' that is gone still run: {ids}",
        remedy="kwokctl doctor --fix ends them",
        repair=Repair(
            what=f"Ending the processes of '{name}' ({ids})", do=partial(_end, machine, name)
        ),
    )


async def _end(machine: Machine, name: ClusterName) -> None:
    """End them together: the API server waits long for an etcd that has ended before it."""
    with alone(machine.home.workdir, name):
        if machine.home.paths(name).saved.exists():
            return
        found = [each for each, _ in leading_below(machine.home.workdir.clusters / name)]
        ours = [each for each in found if _is_component(machine, each)]
        await asyncio.gather(*(stop(each, _GRACE) for each in ours))


async def _remains(machine: Machine, runtime: Runtime) -> Mapping[ClusterName, Collection[str]]:
    if not isinstance(runtime, FindsRemains):
        return {}
    with suppress(KwokctlError):
        await runtime.check()
        found = await runtime.remains()
        return {name: each for name, each in found.items() if _is_gone(machine, name)}
    return {}


def _of_containers(
    machine: Machine, runtime: Runtime, name: ClusterName, found: Collection[str]
) -> DoctorFinding:
    names = ", ".join(found)

    async def remove() -> None:
        with alone(machine.home.workdir, name):
            if not machine.home.paths(name).saved.exists():
                await runtime.uninstall(name)

    return DoctorFinding(
        what=f"containers of a cluster '{name}' that is gone are still there: {names}",
        remedy="kwokctl doctor --fix removes them",
        repair=Repair(what=f"Removing the containers of '{name}' ({names})", do=remove),
    )


def _loaded(machine: Machine, name: str) -> Runtime | None:
    with suppress(KwokctlError):
        return machine.home.runtime(name)
    return None


CHECK = Check(name="orphans", looks_at="remains of deleted clusters", look=look)
