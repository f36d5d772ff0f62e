"""Tells how clusters and their components are."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from kwokctl.clusters.home import Home
from kwokctl.clusters.ready import log_tail, remarks, unready
from kwokctl.clusters.saved import cluster_names, is_foreign, load
from kwokctl.errors import KwokctlError
from kwokctl.model import ClusterName, Component, ComponentName, Port, State
from kwokctl.runtime import Runtime

OURS = "kwokctl (Python)"
ORIGINAL = "kwokctl (Go)"


class Status(StrEnum):
    """How a component or a cluster is, in the original's words."""

    READY = "Ready"
    NOT_READY = "NotReady"
    STOPPED = "Stopped"
    UNKNOWN = "Unknown"
    FAILED = "Failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentStatus:
    """How one component is."""

    name: ComponentName
    status: Status
    version: str
    ports: tuple[Port, ...]
    message: str = ""
    """Why it is not ready; for a stopped one the end of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterStatus:
    """How one cluster is."""

    name: ClusterName
    maker: str
    runtime: str
    kube_version: str
    status: Status
    components: tuple[ComponentStatus, ...] = ()
    message: str = ""

    @property
    def ready(self) -> int:
        """How many components are ready."""
        return sum(component.status is Status.READY for component in self.components)

    @property
    def total(self) -> int:
        """How many components there are."""
        return len(self.components)


async def cluster_statuses(home: Home) -> list[ClusterStatus]:
    """Look at every cluster on disk; one that cannot be read is listed as failed."""
    return list(await asyncio.gather(*(_status(home, n) for n in cluster_names(home.workdir))))


async def component_statuses(home: Home, name: ClusterName) -> list[ComponentStatus]:
    """Look at every component of a cluster."""
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    plan = saved.plan(runtime, paths)
    states = await runtime.states(name)
    running = [c for c in plan.components.values() if states.get(c.name) is State.RUNNING]
    not_ready = {component.name for component in await unready(running)}
    told = await remarks(runtime, name)
    found = [
        await _component(runtime, name, component, states, is_ready=component.name not in not_ready)
        for component in plan.components.values()
    ]
    return [replace(each, message=_joined(each.message, told.get(each.name))) for each in found]


async def _component(
    runtime: Runtime,
    cluster: ClusterName,
    component: Component,
    states: Mapping[ComponentName, State],
    *,
    is_ready: bool,
) -> ComponentStatus:
    if states.get(component.name) is not State.RUNNING:
        status, message = Status.STOPPED, await log_tail(runtime, cluster, component.name)
    elif is_ready:
        status, message = Status.READY, ""
    else:
        status, message = Status.NOT_READY, "it runs, but cannot do work yet"
    return ComponentStatus(
        name=component.name,
        status=status,
        version=component.artifact.version,
        ports=component.ports,
        message=message,
    )


def _joined(message: str, remark: str | None) -> str:
    """Add a remark as the last line, which is the one that a table shows."""
    return "\n".join(filter(None, (message, remark)))


async def _status(home: Home, name: ClusterName) -> ClusterStatus:
    try:
        paths = home.paths(name)
        if is_foreign(paths):
            return _bare(name, ORIGINAL, Status.UNKNOWN, "made by the original kwokctl")
        saved = load(paths, name)
        components = tuple(await component_statuses(home, name))
    except KwokctlError as e:
        return _bare(name, OURS, Status.FAILED, str(e))
    found = {component.status for component in components}
    if found == {Status.READY}:
        status = Status.READY
    else:
        status = Status.STOPPED if found == {Status.STOPPED} else Status.NOT_READY
    return ClusterStatus(
        name=name,
        maker=OURS,
        runtime=saved.options.runtime,
        kube_version=saved.options.kube_version,
        status=status,
        components=components,
    )


def _bare(name: ClusterName, maker: str, status: Status, message: str) -> ClusterStatus:
    return ClusterStatus(
        name=name, maker=maker, runtime="", kube_version="", status=status, message=message
    )
