"""The conditions of a run: what the cluster and this machine were like, so that two runs can be compared."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import msgspec

from kwokctl.clusters.state.saved import Saved
from kwokctl.components.definitions.kube_apiserver import KubeApiserverOptions
from kwokctl.config.quantity import to_text
from kwokctl.errors import ApiError
from kwokctl.host.memory import machine_memory
from kwokctl.kube.client import Client
from kwokctl.kube.collections.paging import ListQuery, count
from kwokctl.kube.resource import NODES, PODS, Resource
from kwokctl.measure.running.request import MeasuredCluster, MeasureRequest

_STAT = Path("/proc/stat")
_IDLE = (3, 4)
"""The fields of a line of processor time in which nothing runs (proc_stat(5))."""


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = "unknown"


async def conditions_of(
    cluster: MeasuredCluster, request: MeasureRequest, client: Client
) -> dict[str, str]:
    """Return the conditions of a run that is about to begin."""
    found = {"cluster": str(cluster), **await _of_cluster(client)}
    if cluster.saved is not None:
        found |= _of_own_cluster(cluster.saved)
    return {**found, **_of_loads(request), **_of_machine()}


async def _of_cluster(client: Client) -> Mapping[str, str]:
    """Return what any cluster says of itself; what it refuses is left out."""
    found: dict[str, str] = {}
    answer = await client.call("GET", "/version")
    found["kubernetes"] = msgspec.json.decode(answer, type=_Version).git_version
    for resource in (NODES, PODS):
        if (number := await _count(client, resource)) is not None:
            found[f"{resource.plural} before"] = f"{number:,}"
    return found


def _of_own_cluster(saved: Saved) -> Mapping[str, str]:
    """Return what is known of a cluster that this kwokctl has made."""
    options = saved.options
    has_audit = bool(options.of(KubeApiserverOptions).audit_policy)
    return {
        "runtime": options.runtime,
        "data path": saved.data_path().path,
        "profile": options.profile or "none",
        "flow control": "off" if options.arguments.disable_qps_limits else "on",
        "audit": "on" if has_audit else "off",
        "components": ",".join(saved.names),
    }


def _of_loads(request: MeasureRequest) -> Mapping[str, str]:
    """Return what arrives, and what of it is written past the API server; nothing without loads."""
    loads = request.loads
    if not loads:
        return {}
    speed = f", {request.speed:g} times as fast" if request.speed != 1 else ""
    found = {"loads": ", ".join(load.name for load in loads) + speed, "seed": str(request.seed)}
    if past := [load.name for load in loads if load.spec.bulk]:
        found["written past the API server"] = ", ".join(past)
    return found


def _of_machine() -> Mapping[str, str]:
    """Return what this machine is like, and how busy it is already."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return {
        "processors": str(
            len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        ),
        "memory": to_text(machine_memory()),
        "system": f"{platform.system()} {platform.release()}",
        "load before": f"{load:.2f}",
    }


class Busy:
    """The load of all processors of this machine from now on."""

    def __init__(self, stat: Path = _STAT) -> None:
        self._stat = stat
        self._before = self._ticks()
        self._own = os.times()

    def so_far(self) -> str:
        """Return the processors that were busy on average; empty where that is not known."""
        (busy, whole), (busy_before, whole_before) = self._ticks(), self._before
        passed = whole - whole_before
        if passed <= 0:
            return ""
        processors = os.cpu_count() or 1
        return f"{(busy - busy_before) / passed * processors:.2f} of {processors} processors"

    def of_recorder(self) -> str:
        """Return the share of a processor that this process took."""
        now = os.times()
        took = now.user + now.system - self._own.user - self._own.system
        passed = now.elapsed - self._own.elapsed
        return f"{took / passed:.3f} processors" if passed > 0 else ""

    def _ticks(self) -> tuple[int, int]:
        try:
            first = self._stat.read_text().partition("\n")[0]
        except OSError:
            return 0, 0
        ticks = [int(word) for word in first.split()[1:9]]
        idle = sum(ticks[place] for place in _IDLE)
        return sum(ticks) - idle, sum(ticks)


async def _count(client: Client, resource: Resource) -> int | None:
    try:
        return await count(client.pool, ListQuery(resource=resource))
    except ApiError:
        return None
