"""What ResourceSlices and claims cost, beside nodes without them and pods with extended resources: in turns, in one run.

    python -m benchmarks.dra [--scale 0.1] [--turns 3] [--stories slices pods]

Each measurement has a cluster of its own. Machines differ, and so do moments: only the ratios count.
"""

import argparse
import asyncio
import statistics
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack

import msgspec

from benchmarks.cluster import BenchCluster, fresh_cluster
from benchmarks.deployment import deployment
from benchmarks.meter import COMMAND, Meter
from benchmarks.observer import Observer, observing
from benchmarks.report import Row, report
from kwokctl.etcd.kv.kv import Kv
from kwokctl.etcd.kv.maintenance import status
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import DEPLOYMENTS, Resource

_SHAPE = "dgx-h100"
_DRA = "--param=.dra = true"
_NODES = 10_000
_PODS, _NODES_OF_PODS = 500, 1_000
_SETTLING = 60.0
"""Seconds before memory is measured: Go's garbage collector returns it late."""
_SCHEDULER, _SERVER = "kube-scheduler", "kube-apiserver"
_CLAIM_TEMPLATES = Resource(
    "resource.k8s.io", "v1", "resourceclaimtemplates", "ResourceClaimTemplate", namespaced=True
)
Figures = Mapping[str, float]
Story = Callable[[BenchCluster, float, bool], Coroutine[None, None, Figures]]


async def slices(cluster: BenchCluster, scale: float, with_dra: bool) -> Figures:  # noqa: FBT001 - a row of two
    """Make nodes, with slices or without; return what that takes."""
    nodes = round(_NODES * scale)
    words = ("scale", _SHAPE, f"--replicas={nodes}", "--wait", *([_DRA] if with_dra else []))
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(cluster.pool())
        meter = Meter(cluster, pool, Observer())
        bytes_before, memory_before = await _bytes(cluster), meter.memory()
        measured = await meter.command(lambda: cluster.kwokctl(*words))
        await asyncio.sleep(_SETTLING)
        memory = meter.memory()
        return {
            "seconds": measured.seconds,
            "bytes of etcd a node": (await _bytes(cluster) - bytes_before) / nodes,
            "CPU of scale, ms a node": measured.cpu[COMMAND] / nodes * 1000,
            "CPU of the API server, ms a node": measured.cpu[_SERVER] / nodes * 1000,
            "API server, MB": memory[_SERVER] - memory_before[_SERVER],
            "scheduler, MB": memory[_SCHEDULER] - memory_before[_SCHEDULER],
        }


async def pods(cluster: BenchCluster, scale: float, with_dra: bool) -> Figures:  # noqa: FBT001 - a row of two
    """Have pods of one GPU each placed by the scheduler, by claims or by an extended resource."""
    number, nodes = round(_PODS * scale), round(_NODES_OF_PODS * scale)
    words = ("scale", _SHAPE, f"--replicas={nodes}", "--wait", *([_DRA] if with_dra else []))
    await cluster.kwokctl(*words)
    async with AsyncExitStack() as stack:
        pool = await stack.enter_async_context(cluster.pool())
        observer = await stack.enter_async_context(observing(pool))
        client, meter = Client(pool), Meter(cluster, pool, observer)
        if with_dra:
            body = msgspec.json.encode(_claim_template())
            await client.create(_CLAIM_TEMPLATES, "default", body)
        wanted = msgspec.json.encode(_with_gpus(deployment(number), by_claim=with_dra))
        measured = await meter.work(
            lambda: client.create(DEPLOYMENTS, "default", wanted),
            lambda: len(observer.pods.ready) >= number,
        )
        return {
            "pods a second": number / measured.seconds,
            "CPU of the scheduler, ms a pod": measured.cpu[_SCHEDULER] / number * 1000,
            "CPU of the API server, ms a pod": measured.cpu[_SERVER] / number * 1000,
        }


_STORIES: Mapping[str, Story] = {"slices": slices, "pods": pods}


def main() -> None:
    """Run the requested stories, and print the medians and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies all counts")
    parser.add_argument("--turns", type=int, default=3, help="clusters of each kind")
    parser.add_argument("--stories", nargs="+", choices=_STORIES, default=list(_STORIES))
    options = parser.parse_args()
    for name in options.stories:
        found: dict[bool, list[Figures]] = {False: [], True: []}
        for turn in range(options.turns):
            for with_dra in (False, True) if turn % 2 == 0 else (True, False):
                with fresh_cluster() as cluster:
                    figures = asyncio.run(_STORIES[name](cluster, options.scale, with_dra))
                found[with_dra].append(figures)
        report(f"{name}: with DRA beside without", list(_rows(found[False], found[True])))


def _rows(without: Sequence[Figures], with_dra: Sequence[Figures]) -> Iterator[Row]:
    for figure in without[0]:
        before, after = (
            statistics.median(each[figure] for each in runs) for runs in (without, with_dra)
        )
        yield Row(f"{figure}, without", before, "")
        yield Row(f"{figure}, with DRA", after, "")
        if before > 0:
            yield Row("the ratio", after / before, "times")


async def _bytes(cluster: BenchCluster) -> int:
    async with Kv(f"unix:{cluster.paths.etcd_socket}") as kv:
        return (await status(kv)).db_size_in_use


def _claim_template() -> Json:
    gpu = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    return {
        "apiVersion": _CLAIM_TEMPLATES.api_version,
        "kind": _CLAIM_TEMPLATES.kind,
        "metadata": {"name": "gpu"},
        "spec": {"spec": {"devices": {"requests": [gpu]}}},
    }


def _with_gpus(body: Json, *, by_claim: bool) -> Json:
    """Give each pod of a Deployment a GPU."""
    spec = body["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    if by_claim:
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
        container["resources"]["claims"] = [{"name": "gpu"}]
    else:
        container["resources"]["limits"] = {"nvidia.com/gpu": "1"}
    return body


if __name__ == "__main__":
    main()
