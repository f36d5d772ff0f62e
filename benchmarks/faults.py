"""What faults cost, and how soon they show.

    python -m benchmarks.faults [--scale 0.1] [--stories reach open singles first beside restart large storm] [--data-path etcd]

`reach`: 1,000 of 10,000 nodes, and 100, are hit at once; the time from the command until every node shows it, in which
agents of the class need none. `open`: the CPU of controller and kubelet server in a minute in which nothing happens, without faults, and with 20 of 500
nodes each; `singles`: the same with one on each of 10,000 nodes, after the half hour in which all are reported. `first`: the time from the creation of a Fault to the first write on its node, 200 times;
`beside`: the same while 60,000 pods are created on the nodes. `restart`: 20 Faults of 500 nodes each are open, the controller is killed, and one Fault is
deleted; the time from the start of a new controller until no node of that Fault shows it. `large`: 500 Faults, each of one of 50,000 nodes. `storm`: some 1,000 faults of
a schedule in 24 minutes on 2,000 nodes beside 50 gangs; how late they and their signals come, and the CPU.
"""

import argparse
import asyncio
import os
import signal
import statistics
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import aclosing

import msgspec

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.meter import Meter
from benchmarks.observer import Observer
from benchmarks.report import Row, report
from benchmarks.storms import storm
from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, read_entries
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.collections.watch import watch
from kwokctl.kube.resource import FAULT_CLASSES, FAULTS, NODES
from tests.support.fault_classes import shown_at_once

_NODES = 10_000
_PODS = 60_000
_SOON = 0.5
_CONTROLLER, _KUBELET = "kwok-controller", "kwok-kubelet"
_IDLE = 60.0
_FIRST = 200
_CLASS = shown_at_once(
    "at-once",
    conditions=[{"type": "Broken", "reason": "Bench", "message": "broken"}],
    labels={"broken": "yes"},
)
Figures = Mapping[str, float]
Story = Callable[[BenchCluster, Client, float], Coroutine[None, None, Figures]]


def _fault(name: str, *, seed: int = 1, **target: Json) -> bytes:
    body = {
        "apiVersion": FAULTS.api_version,
        "kind": FAULTS.kind,
        "metadata": {"name": name},
        "spec": {"class": "at-once", "dialects": ["npd"], "target": target, "seed": seed},
    }
    return msgspec.json.encode(body)


class _Shown:
    """The nodes that show a fault, and when each did."""

    def __init__(self) -> None:
        self.at: dict[str, float] = {}
        self.ready = asyncio.Event()
        self._changed = asyncio.Event()

    async def follow(self, client: Client) -> None:
        """Watch until cancelled."""
        clock = asyncio.get_running_loop().time
        decode = msgspec.json.Decoder(_Node).decode
        async with aclosing(
            watch(client.pool, NODES, decoder=decode, label_selector="broken=yes")
        ) as batches:
            async for batch in batches:
                for event in batch:
                    if event.object is None:
                        self.ready.set()
                    elif event.type == "DELETED":
                        self.at.pop(event.object.metadata.name, None)
                    else:
                        self.at.setdefault(event.object.metadata.name, clock())
                self._changed.set()

    async def until(self, number: int) -> None:
        """Wait until so many nodes show a fault, and no others."""
        while len(self.at) != number:
            self._changed.clear()
            await self._changed.wait()


class _Metadata(msgspec.Struct):
    name: str


class _Node(msgspec.Struct):
    metadata: _Metadata


class _Status(msgspec.Struct):
    phase: str = ""


class _Fault(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


async def _prepare(cluster: BenchCluster, client: Client, nodes: int) -> None:
    await cluster.kwokctl("scale", "node", f"--replicas={nodes}", "--wait")
    await client.create(FAULT_CLASSES, None, msgspec.json.encode(_CLASS))


async def reach(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Hit many nodes at once, and few."""
    await _prepare(cluster, client, round(_NODES * scale))
    shown = _Shown()
    figures: dict[str, float] = {}
    following = asyncio.create_task(shown.follow(client))
    await shown.ready.wait()
    clock = asyncio.get_running_loop().time
    for number in (round(100 * scale) or 1, round(1_000 * scale)):
        start = clock()
        await client.create(FAULTS, None, _fault(f"hit-{number}", count=number))
        await shown.until(number)
        figures[f"{number} nodes show it, s"] = clock() - start
        start = clock()
        await client.call("DELETE", FAULTS.path(None, f"hit-{number}"))
        await shown.until(0)
        figures[f"{number} nodes show nothing any more, s"] = clock() - start
    following.cancel()
    return figures


async def open_ones(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Have faults open in which nothing happens."""
    nodes = round(_NODES * scale)
    await _prepare(cluster, client, nodes)
    meter = Meter(cluster, client.pool, Observer())
    figures: dict[str, float] = {}
    await _rest(meter, "without", figures)
    each = round(500 * scale)
    for number in range(20):
        await client.create(FAULTS, None, _fault(f"many-{number}", seed=number, count=each))
    await _until_landed(client, 20)
    await _rest(meter, "20 of many nodes", figures)
    return figures


async def open_singles(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Have a fault open on each node, each by a Fault of its own."""
    nodes = round(_NODES * scale)
    await _prepare(cluster, client, nodes)
    meter = Meter(cluster, client.pool, Observer())
    figures: dict[str, float] = {}
    await _rest(meter, "without", figures)
    for number in range(nodes):
        name = f"node-{number:06}"
        await client.create(FAULTS, None, _fault(f"one-{number}", nodes=[name]))
    await _until_landed(client, nodes)
    await _rest(meter, "one on each node", figures)
    return figures


async def _until_landed(client: Client, faults: int) -> None:
    """Wait until so many faults have units, all of which show them."""
    landed: set[str] = set()
    decode = msgspec.json.Decoder(_Fault).decode
    async with aclosing(watch(client.pool, FAULTS, decoder=decode)) as batches:
        async for batch in batches:
            for event in batch:
                if event.object is not None and event.object.status.phase == "Landed":
                    landed.add(event.object.metadata.name)
            if len(landed) >= faults:
                return


async def _rest(meter: Meter, when: str, figures: dict[str, float]) -> None:
    await asyncio.sleep(_IDLE / 4)
    rested, memory = await meter.rest(_IDLE), meter.memory()
    for program in (_CONTROLLER, _KUBELET):
        figures[f"{when}: CPU of {program}, ms a second"] = rested.cpu[program] / _IDLE * 1000
        figures[f"{when}: memory of {program}, MB"] = memory[program]


async def first_write(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Inject one fault after the other, each on another node."""
    number = max(round(_FIRST * scale), 20)
    await _prepare(cluster, client, number)
    return _of_waits(await _one_by_one(client, number, lambda: False))


_OF_NODES = "kwok.x-k8s.io/kwokctl-scale=node"


async def beside(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Inject one fault after the other while pods are created on the nodes: the scheduler would take all processors."""
    number = round(_NODES * scale)
    await _prepare(cluster, client, number)
    words = ("scale", "pod", f"--replicas={round(_PODS * scale)}", f"--on-nodes={_OF_NODES}")
    pods = asyncio.create_task(cluster.kwokctl(*words, "--wait"))
    waits = await _one_by_one(client, number, pods.done)
    await pods
    return {"faults meanwhile": len(waits), **_of_waits(waits)}


async def _one_by_one(client: Client, most: int, is_over: Callable[[], bool]) -> list[float]:
    """Inject faults, each on another node as soon as the one before is shown; return the seconds of each.

    They count from when the API server has taken the fault.
    """
    shown = _Shown()
    following = asyncio.create_task(shown.follow(client))
    await shown.ready.wait()
    clock = asyncio.get_running_loop().time
    waits: list[float] = []
    while len(waits) < most and not is_over():
        serial = len(waits)
        await client.create(FAULTS, None, _fault(f"one-{serial}", nodes=[f"node-{serial:06}"]))
        start = clock()
        await shown.until(serial + 1)
        waits.append(clock() - start)
    following.cancel()
    return waits


def _of_waits(waits: Sequence[float]) -> Figures:
    ordered = sorted(waits)
    return {
        "the first write after the creation, median, ms": statistics.median(waits) * 1000,
        "the same, p99, ms": ordered[int(0.99 * len(ordered))] * 1000,
        "the same, at most, ms": ordered[-1] * 1000,
        "within 500 ms, %": 100 * sum(each <= _SOON for each in waits) / len(waits),
    }


async def restart(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Delete a Fault while no controller runs, and start one."""
    await _prepare(cluster, client, round(_NODES * scale))
    each = round(500 * scale)
    for number in range(20):
        await client.create(FAULTS, None, _fault(f"many-{number}", seed=number, count=each))
    await _until_landed(client, 20)
    shown = _Shown()
    following = asyncio.create_task(shown.follow(client))
    await shown.ready.wait()
    gone = await client.get(FAULTS, None, "many-0")
    os.kill(cluster.programs[_CONTROLLER], signal.SIGKILL)
    await client.call("DELETE", FAULTS.path(None, "many-0"))
    others = await _hit_by_others(client, gone["metadata"]["uid"])
    clock = asyncio.get_running_loop().time
    start = clock()
    await cluster.kwokctl("start", "cluster")
    started = clock() - start
    await shown.until(others)
    following.cancel()
    return {
        "until the cluster is started, s": started,
        "until no node shows the deleted fault, s": clock() - start,
    }


async def _hit_by_others(client: Client, uid: str) -> int:
    """Count the nodes that show other faults than this one."""
    number = 0
    for node in msgspec.json.decode(await client.call("GET", NODES.path()))["items"]:
        text = (node["metadata"].get("annotations") or {}).get(OPEN_FAULTS) or ""
        number += any(each.uid != uid for each in read_entries(text))
    return number


async def large(cluster: BenchCluster, client: Client, scale: float) -> Figures:
    """Inject 500 Faults into 50,000 nodes."""
    clock = asyncio.get_running_loop().time
    start, number = clock(), round(500 * scale)
    await _prepare(cluster, client, round(50_000 * scale))
    figures = {"until the nodes are Ready, s": clock() - start}
    meter = Meter(cluster, client.pool, Observer())
    await _rest(meter, "without", figures)
    shown = _Shown()
    following = asyncio.create_task(shown.follow(client))
    await shown.ready.wait()
    start = clock()
    for serial in range(number):
        await client.create(FAULTS, None, _fault(f"one-{serial}", seed=serial, count=1))
    figures["until they are created, s"] = clock() - start
    await _until_landed(client, number)
    figures["until they are landed, s"] = clock() - start
    figures["nodes that show faults"] = len(shown.at)
    await _rest(meter, "with faults", figures)
    start = clock()
    for serial in range(number):
        await client.call("DELETE", FAULTS.path(None, f"one-{serial}"))
    await shown.until(0)
    figures["until no node shows faults, s"] = clock() - start
    following.cancel()
    return figures


_STORIES: Mapping[str, Story] = {
    "reach": reach,
    "open": open_ones,
    "singles": open_singles,
    "first": first_write,
    "beside": beside,
    "restart": restart,
    "large": large,
    "storm": storm,
}


def main() -> None:
    """Run the requested stories, each in a cluster of its own."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--data-path", choices=("etcd", "api"), default="etcd")
    parser.add_argument("--stories", nargs="+", choices=_STORIES, default=list(_STORIES))
    options = parser.parse_args()
    for name in options.stories:
        words = ("--enable-crds=Fault", f"--data-path={options.data_path}")
        with fresh_cluster(*words) as cluster:
            figures = asyncio.run(_told(cluster, _STORIES[name], options.scale))
        report(f"{name}, data path {options.data_path}", list(_rows(figures)))


async def _told(cluster: BenchCluster, story: Story, scale: float) -> Figures:
    async with cluster.pool() as pool:
        return await story(cluster, Client(pool), scale)


def _rows(figures: Figures) -> Iterator[Row]:
    for what, value in figures.items():
        yield Row(what, value, "")


if __name__ == "__main__":
    main()
