"""Reports the status of clusters and their components."""

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from enum import StrEnum

import msgspec

from kwokctl.clusters.launching.readiness import log_tail, remarks, unready
from kwokctl.clusters.programs.needed import is_versioned
from kwokctl.clusters.state.go_kwokctl import Original, original
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, cluster_names, is_foreign, load
from kwokctl.errors import KwokctlError
from kwokctl.model import ClusterName, Component, ComponentName, Port, State
from kwokctl.replacing import replace
from kwokctl.runtime import Runtime

OURS = "kwokctl (Python)"
ORIGINAL = "kwokctl (Go)"
_LOOK = 1.0
"""Seconds between two checks of the components of a cluster that is watched."""
_BY_USER = "stopped by 'stop cluster'"
_NOT_READY = "it runs, but is not ready yet"


class RunStatus(StrEnum):
    """The status of a component or a cluster, in the original's words."""

    READY = "Ready"
    NOT_READY = "NotReady"
    STOPPED = "Stopped"
    UNKNOWN = "Unknown"
    FAILED = "Failed"


class ComponentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one component."""

    name: ComponentName
    status: RunStatus
    version: str
    ports: tuple[Port, ...]
    url: str = ""
    """The address of its web pages, if it has any."""
    message: str = ""
    """Why it is not ready; for one that has ended by itself the end of its log."""


class ClusterStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of one cluster."""

    name: ClusterName
    maker: str
    runtime: str
    kube_version: str
    status: RunStatus
    components: tuple[ComponentStatus, ...] = ()
    message: str = ""

    @property
    def ready(self) -> int:
        """The number of ready components."""
        return sum(component.status is RunStatus.READY for component in self.components)

    @property
    def total(self) -> int:
        """The number of components."""
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
    running = {n for n in plan.components if states.get(n) is State.RUNNING}
    not_ready = {c.name for c in await unready([plan.components[n] for n in running])}
    statuses = dict.fromkeys(plan.components, RunStatus.STOPPED)
    statuses |= {n: RunStatus.NOT_READY if n in not_ready else RunStatus.READY for n in running}
    by_user = not running and paths.stopped.exists()
    reasons = {} if by_user else await remarks(runtime, name)
    return [
        ComponentStatus(
            name=component.name,
            status=status,
            version=_version(saved, component),
            ports=component.ports,
            url=component.url,
            message=_BY_USER
            if by_user
            else await _message(runtime, name, status, component, reasons),
        )
        for component, status in zip(plan.components.values(), statuses.values(), strict=True)
    ]


def summary(components: Collection[ComponentStatus]) -> RunStatus:
    """Return the status of a cluster by those of its components."""
    found = {component.status for component in components}
    if found == {RunStatus.READY}:
        return RunStatus.READY
    return RunStatus.STOPPED if found == {RunStatus.STOPPED} else RunStatus.NOT_READY


async def component_changes(home: Home, name: ClusterName) -> AsyncIterator[list[ComponentStatus]]:
    """Yield every component of a cluster, and then, for ever, those that have changed."""
    before: dict[ComponentName, ComponentStatus] = {}
    while True:
        now = {each.name: each for each in await component_statuses(home, name)}
        if changed := [each for each in now.values() if each != before.get(each.name)]:
            yield changed
        before = now
        await asyncio.sleep(_LOOK)


async def _message(
    runtime: Runtime,
    cluster: ClusterName,
    status: RunStatus,
    component: Component,
    reasons: Mapping[ComponentName, str],
) -> str:
    """Explain why a component is not ready; the last line is the runtime's remark."""
    message = _NOT_READY if status is RunStatus.NOT_READY else ""
    if status is RunStatus.STOPPED:
        message = await log_tail(runtime, cluster, component.name)
    return "\n".join(filter(None, (message, reasons.get(component.name))))


def _version(saved: Saved, component: Component) -> str:
    """Return the version of a component; empty if it is a program that has no version kwokctl knows."""
    return component.artifact.version if is_versioned(saved.options, component.name) else ""


async def _status(home: Home, name: ClusterName) -> ClusterStatus:
    try:
        paths = home.paths(name)
        if is_foreign(paths):
            return _of_original(name, original(paths.saved))
        saved = load(paths, name)
        components = tuple(await component_statuses(home, name))
    except KwokctlError as e:
        return _bare(name, OURS, RunStatus.FAILED, str(e))
    return ClusterStatus(
        name=name,
        maker=OURS,
        runtime=saved.options.runtime,
        kube_version=saved.options.kube_version,
        status=summary(components),
        components=components,
    )


def _of_original(name: ClusterName, found: Original) -> ClusterStatus:
    status = _bare(
        name,
        ORIGINAL,
        RunStatus.UNKNOWN,
        f"made by the original kwokctl {found.maker_version}".rstrip(),
    )
    return replace(status, runtime=found.runtime, kube_version=found.kube_version)


def _bare(name: ClusterName, maker: str, status: RunStatus, message: str) -> ClusterStatus:
    return ClusterStatus(
        name=name, maker=maker, runtime="", kube_version="", status=status, message=message
    )
