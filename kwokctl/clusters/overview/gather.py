"""Gathers the figures of a cluster; what does not answer is left out, and the rest is still shown.

Nodes and pods are counted without reading them: the API server prints, and counts itself. Of pods that run
only the number is known; the server leaves them out of the rest, so that a hundred thousand cost nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeVar

from kwokctl.clusters.overview.figures import (
    READY,
    RUNNING,
    ControllerReport,
    Nodes,
    Overview,
    Pods,
    Store,
)
from kwokctl.clusters.overview.problems import find_problems
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.saved import Saved, load
from kwokctl.clusters.status import RunStatus, component_statuses, summary
from kwokctl.components.definitions import etcd
from kwokctl.components.heartbeat import Heartbeat, heartbeat
from kwokctl.config.quantity import to_bytes
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import KwokctlError
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.kv.maintenance import status
from kwokctl.host.processes.process_usage import Usage, measure
from kwokctl.kube.collections.paging import ListQuery, count
from kwokctl.kube.collections.server_metrics import values
from kwokctl.kube.collections.tables import columns
from kwokctl.kube.kubeconfig.access import Access, load_access
from kwokctl.kube.resource import NODES, PODS
from kwokctl.kube.transport.pool import Pool
from kwokctl.model import KWOK_CONTROLLER, ClusterName, ComponentName
from kwokctl.replacing import replace
from kwokctl.runtime import KnowsProcesses, Runtime

T = TypeVar("T")
_WITHIN = 10.0
"""Seconds after which what does not answer is left out."""
_MEASURED = 0.5
"""Seconds over which processor time is measured."""
_PAUSE = 2.0
_WATCH_DELAY = "kwok_controller_watch_delay_seconds"


async def look(home: Home, name: ClusterName) -> Overview:
    """Look at a cluster once; NotFoundError if it does not exist."""
    paths = home.paths(name)
    saved = load(paths, name)
    runtime = home.runtime(saved.options.runtime)
    components = await component_statuses(home, name)
    state = summary(components)
    seen = Overview(
        name=name,
        status=state,
        kube_version=saved.options.kube_version,
        runtime=saved.options.runtime,
        components=components,
        usage={},
        writes=saved.data_path().way,
        heartbeat=in_words(heartbeat(saved.options)),
    )
    if state is not RunStatus.STOPPED:
        usage, objects, store, controller = await asyncio.gather(
            _usage(runtime, name),
            _if_it_answers(lambda: _objects(home, name)),
            _if_it_answers(lambda: _store(saved, runtime, home)),
            _if_it_answers(lambda: _controller(saved, runtime, home)),
        )
        nodes, pods = objects or (None, None)
        seen = replace(seen, usage=usage, nodes=nodes, pods=pods, etcd=store, controller=controller)
    return replace(seen, problems=[*find_problems(seen)])


async def looks(home: Home, name: ClusterName) -> AsyncIterator[Overview]:
    """Look at a cluster again and again, for ever."""
    while True:
        yield await look(home, name)
        await asyncio.sleep(_PAUSE)


def in_words(beat: Heartbeat) -> str:
    """Describe how often nodes send heartbeats."""
    if beat.is_off:
        return "off: nodes send none"
    if beat.lease_seconds:
        return f"Leases of {beat.lease_seconds} s"
    return f"a status every {beat.status_milliseconds / 1000:g} s, no Leases"


async def _if_it_answers(ask: Callable[[], Awaitable[T]]) -> T | None:
    try:
        async with asyncio.timeout(_WITHIN):
            return await ask()
    except (KwokctlError, TimeoutError):
        return None


async def _usage(runtime: Runtime, name: ClusterName) -> dict[ComponentName, Usage]:
    if not isinstance(runtime, KnowsProcesses):
        return {}
    found = await _if_it_answers(lambda: runtime.processes(name))
    return await measure(found or {}, _MEASURED)


async def _objects(home: Home, name: ClusterName) -> tuple[Nodes, Pods]:
    async with Pool(load_access(home.paths(name).own_kubeconfig)) as pool:
        return await count_nodes(pool), await count_pods(pool)


def etcd_of(saved: Saved, runtime: Runtime, home: Home) -> Kv:
    """Return the client of a cluster's etcd, to be entered."""
    target = etcd.target(saved.setting(runtime, home.paths(saved.name)))
    return Kv(target.address, ca=target.ca, cert=target.cert, key=target.key)


async def _store(saved: Saved, runtime: Runtime, home: Home) -> Store:
    async with etcd_of(saved, runtime, home) as kv:
        found = await status(kv)
    quota = found.quota or to_bytes(saved.options.of(etcd.EtcdOptions).quota_backend_size)
    return Store(size=found.db_size, in_use=found.db_size_in_use, quota=quota)


async def _controller(saved: Saved, runtime: Runtime, home: Home) -> ControllerReport:
    paths = home.paths(saved.name)
    address = saved.setting(runtime, paths).address(KWOK_CONTROLLER)
    async with Pool(Access(server=f"http://{address}"), connections=1) as pool:
        client = ControllerClient(pool, paths.controller_token)
        stages, figures = await client.stages(), await client.metrics()
        version = await client.version()
    delays = [*values(figures, _WATCH_DELAY)]
    return ControllerReport(
        stages=[str(each["metadata"]["name"]) for each in stages.stages],
        watch_delay=max(delays) if delays else None,
        version=version,
    )


_CACHED = "0"


async def count_nodes(pool: Pool) -> Nodes:
    """Return the nodes by status; ApiError if the API server refuses."""
    query = ListQuery(resource=NODES)
    rows = [*await columns(pool, query, "Name", "Status", resource_version=_CACHED)]
    # "Ready,SchedulingDisabled" is Ready, and more.
    statuses = {name: status.partition(",")[0] for name, status in rows}
    not_ready = next((name for name, status in statuses.items() if status != READY), "")
    return Nodes(by_status=Counter(statuses.values()), not_ready=not_ready)


async def count_pods(pool: Pool) -> Pods:
    """Return the pods by status; ApiError if the API server refuses."""
    total = await count(pool, ListQuery(resource=PODS))
    others = ListQuery(resource=PODS, field_selector=f"status.phase!={RUNNING}")
    rows = [*await columns(pool, others, "Status", resource_version=_CACHED)]
    by_status = Counter(status for (status,) in rows)
    running = {RUNNING: total - len(rows)} if total > len(rows) else {}
    return Pods(by_status=running | dict(by_status.most_common()))
