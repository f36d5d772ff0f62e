"""A tenth of a large fleet is cut off for six minutes: which pods are evicted, and that all else stays as it is.

    python -m benchmarks.parting [--scale 0.1] [--rates 0.1 100]

For each rate of evictions (`node-eviction-rate` of the controller-manager: nodes a second, by default 0.1) a cluster of 10,000 nodes with a pod each.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress

import msgspec

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.report import Row, report
from kwokctl.faults.evictions.eviction_flags import EvictionFlags
from kwokctl.faults.evictions.eviction_forecast import ZoneOutlook, forecast
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import FAULTS, NODES, PODS, Resource

_NODES = 10_000
_CUT = 0.1
_SECONDS = 360.0
_STAY = 300.0
"""The seconds that a pod tolerates a silent node by default."""
_UNREACHABLE = "node.kubernetes.io/unreachable"
Figures = Mapping[str, float]


class _Metadata(msgspec.Struct, rename="camel"):
    name: str
    deletion_timestamp: str = ""
    annotations: dict[str, str] = {}


class _Taint(msgspec.Struct, frozen=True):
    key: str
    effect: str


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    taints: tuple[_Taint, ...] = ()


class _Condition(msgspec.Struct, rename="camel", frozen=True):
    type: str
    status: str
    last_transition_time: str = ""


class _Status(msgspec.Struct):
    conditions: tuple[_Condition, ...] = ()


class _Seen(msgspec.Struct):
    """A node or a pod, without what changes by itself."""

    metadata: _Metadata
    spec: _Spec
    status: _Status

    @property
    def ready(self) -> str:
        return next((each.status for each in self.status.conditions if each.type == "Ready"), "")

    @property
    def is_hit(self) -> bool:
        return OPEN_FAULTS in self.metadata.annotations

    @property
    def is_evicted(self) -> bool:
        return bool(self.metadata.deletion_timestamp)

    @property
    def is_left(self) -> bool:
        """Whether pods have to leave the node."""
        return any(
            each.key == _UNREACHABLE and each.effect == "NoExecute" for each in self.spec.taints
        )


Objects = Mapping[str, _Seen]


class _Follower:
    """The present objects of a kind, and the names of those that have changed."""

    def __init__(self, client: Client, resource: Resource) -> None:
        self._client, self._resource = client, resource
        self.now: dict[str, _Seen] = {}
        self.touched: set[str] = set()
        self.hit: set[str] = set()
        """The names of those that a fault has hit at some time."""
        self.tainted: dict[str, float] = {}
        """The times at which pods had to leave nodes, by the loop's clock."""
        self.evicted: dict[str, float] = {}
        """The times at which pods were deleted."""
        self.wrong_times = 0
        """The changes of conditions that have one of both: another status, another time."""
        self.listed, self._changed = asyncio.Event(), asyncio.Event()

    async def follow(self) -> None:
        """Watch until cancelled."""
        decode = msgspec.json.Decoder(_Seen).decode
        async with aclosing(watch(self._client.pool, self._resource, decoder=decode)) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        self.listed.set()
                    else:
                        self._take(event.object, is_gone=event.type == "DELETED")
                self._changed.set()

    def _take(self, found: _Seen, *, is_gone: bool) -> None:
        name = found.metadata.name
        known = self.now.pop(name, None)
        if not is_gone:
            self.now[name] = found
        now = asyncio.get_running_loop().time()
        if found.is_hit:
            self.hit.add(name)
        if found.is_left:
            self.tainted.setdefault(name, now)
        if found.is_evicted:
            self.evicted.setdefault(name, now)
        if known is not None and (is_gone or known != found):
            self.touched.add(name)
            self.wrong_times += _wrong_times(known, found)

    async def until(self, holds: Callable[[Objects], bool]) -> None:
        """Wait until something holds for the objects together."""
        while not holds(self.now):
            self._changed.clear()
            await self._changed.wait()


def _wrong_times(one: _Seen, other: _Seen) -> int:
    before = {each.type: each for each in one.status.conditions}
    return sum(
        (before[each.type].status != each.status)
        != (before[each.type].last_transition_time != each.last_transition_time)
        for each in other.status.conditions
        if each.type in before
    )


def _unknown_and_hit(nodes: Objects) -> int:
    return sum(each.is_hit and each.ready == "Unknown" for each in nodes.values())


def _have_returned(nodes: Objects) -> bool:
    return all(each.ready == "True" and not each.spec.taints for each in nodes.values())


async def _part(cluster: BenchCluster, rate: float, number: int) -> Figures:
    await cluster.kwokctl("scale", "node", f"--replicas={number}", "--wait")
    await cluster.kwokctl("scale", "pod", f"--replicas={number}", "--on-nodes=all", "--wait")
    async with cluster.pool() as pool, asyncio.TaskGroup() as tasks:
        client = Client(pool)
        nodes, pods = _Follower(client, NODES), _Follower(client, PODS)
        following = [tasks.create_task(each.follow()) for each in (nodes, pods)]
        for each in (nodes, pods):
            await each.listed.wait()
        figures = await _cut(client, nodes, pods, rate)
        for task in following:
            task.cancel()
    return figures


async def _cut(client: Client, nodes: _Follower, pods: _Follower, rate: float) -> Figures:
    clock, silent = asyncio.get_running_loop().time, round(len(nodes.now) * _CUT)
    before = {name: each.spec.node_name for name, each in pods.now.items()}
    start = clock()
    await client.create(FAULTS, None, _fault(silent))
    await nodes.until(lambda found: _unknown_and_hit(found) > 0)
    first = clock() - start
    with suppress(TimeoutError):  # a machine that is too small does not notice all of them in time
        async with asyncio.timeout_at(start + _SECONDS):
            await nodes.until(lambda found: _unknown_and_hit(found) == silent)
    every = clock() - start
    noticed = _unknown_and_hit(nodes.now)
    hit = nodes.hit
    await asyncio.sleep(max(0.0, _SECONDS - (clock() - start)))
    evicted = dict(pods.evicted)
    await nodes.until(_have_returned)
    returned = clock() - start
    of_others = {pod for pod, node in before.items() if node not in hit}
    zone = ZoneOutlook(name="", nodes=len(nodes.now), silent=[[_STAY]] * silent)
    expected = forecast([zone], EvictionFlags(rate=rate), horizon=_SECONDS)
    [foreseen] = expected.zones
    tainted = sorted(each - start for each in nodes.tainted.values())
    return {
        "nodes": len(nodes.now),
        "nodes that fall silent": silent,
        "until the first is Unknown, s": first,
        "until all are Unknown, or the six minutes are over, s": every,
        "nodes that are Unknown then": noticed,
        **_times("node tainted", tainted),
        **_times("node tainted, by the forecast", foreseen.tainted),
        "pods evicted after 360 s": len(evicted),
        "pods evicted after 360 s, by the forecast": expected.evicted_by(_SECONDS),
        **_times("pod evicted", sorted(each - start for each in evicted.values())),
        **_times("pod evicted, by the forecast", foreseen.evicted),
        "until all nodes have returned, s": returned,
        "other nodes that changed": len(nodes.touched - hit),
        "pods of other nodes that changed": len(pods.touched & of_others),
        "conditions with a wrong time of transition": nodes.wrong_times,
    }


def _times(what: str, times: Sequence[float]) -> Figures:
    """Return the ends of ascending times, if there are any."""
    return {f"first {what}, s": times[0], f"last {what}, s": times[-1]} if times else {}


def _fault(silent: int) -> bytes:
    spec = {"class": "unreachable", "target": {"count": silent}, "seed": 1, "for": f"{_SECONDS:g}s"}
    body = {"apiVersion": FAULTS.api_version, "kind": FAULTS.kind, "metadata": {"name": "cut"}}
    return msgspec.json.encode({**body, "spec": spec})


def main() -> None:
    """Part a cluster for each rate."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of nodes")
    parser.add_argument("--rates", nargs="+", type=float, default=[0.1, 100.0])
    options = parser.parse_args()
    for rate in options.rates:
        flag = f"--extra-args=kube-controller-manager=node-eviction-rate={rate:g}"
        with fresh_cluster("--enable-crds=Fault", "--stage=pod-kubelet", flag) as cluster:
            figures = asyncio.run(_part(cluster, rate, round(_NODES * options.scale)))
        report(f"node-eviction-rate {rate:g}", [Row(*each, "") for each in figures.items()])


if __name__ == "__main__":
    main()
