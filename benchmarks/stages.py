"""What it costs the controller to play Stages: transitions a second of one core.

The whole controller plays pods in memory, on a clock that jumps. Everything is done but the transport:
choosing, waiting, rendering, patching, and encoding for etcd. A figure counts only if every pod has come to its end.

    python -m benchmarks.stages [--pods 10000] [--turns 3] [--into FILE] [--profile SET]

Figures are medians, and are added to docs/explanation/performance.json unless `--pods` are fewer.
"""

import argparse
import asyncio
import cProfile
import pstats
import statistics
import time
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import orjson

from benchmarks.goals import ROWS
from benchmarks.ledger import Ledger
from benchmarks.report import Row, report
from benchmarks.results import FILE
from kwokctl.clusters.state.cluster_stages import stages_in_force
from kwokctl.components.stage_sets import KUBELET_PODS
from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.engine.decoded import DecodedNode, DecodedPod
from kwokctl.controller.known_faults.fault_clock import FaultClock
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.controller.object_reader import ApiObjectReader
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.wiring import Controller
from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.copies.protobuf_stamp import PREFIX
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.etcd_plane import EtcdPlane, EtcdRoute
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.embedded.component_process import collect_rarely
from kwokctl.etcd.kv import request_encoding
from kwokctl.etcd.kv.kv import KeyValue, Kv, Put, Txn, TxnAnswer
from kwokctl.fleet.allocations import allocations_of
from kwokctl.kube.client import Client
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.resource import PODS
from kwokctl.kube.transport.pool import Pool, Response
from tests.support import virtual_time
from tests.support.controller_settings import controller_settings
from tests.support.options import cluster_options
from tests.support.stage_documents import read

_ROWS = {"pod-fast": "transitions-fast", "pod-general": "transitions-general"}
"""The sets that are played, with the row of each."""
START = 1_767_268_800.0
"""The time of day when the clock of a loop is at zero."""
PODS_PREFIX = b"/registry/pods/"
_LONGEST = 120.0
"""Seconds on the clock that jumps in which every pod comes to its end."""
_NODES = 100
_GPU, _GPUS = "nvidia.com/gpu", 1000
"""As many for each node as all its pods ask for."""


class Etcd(Kv):
    """Accepts every write, and shows it at once."""

    def __init__(self) -> None:
        super().__init__("unix:/nowhere")
        self.revision = 1_000
        self.pods: dict[bytes, bytes] = {}
        self.transitions = self.events = 0
        self.plane: EtcdPlane | None = None

    async def get(self, key: bytes) -> KeyValue | None:
        """Return something readable: a protocol buffer that does not expire."""
        return KeyValue(key, PREFIX, 1)

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        """Encode a write, and keep what becomes of pods."""
        self.revision += 1
        request_encoding.txn_request(txn)
        assert self.plane is not None
        for put in txn.then:
            assert isinstance(put, Put)
            if put.key.startswith(PODS_PREFIX):
                self.transitions += 1
                self.pods[put.key] = put.value
                self.plane.seen(PODS, self.revision)
            else:
                self.events += 1
        return TxnAnswer(True, self.revision, ())


class Api(Pool):
    """Answers with the same object whatever it is asked: Events are created, the namespace exists."""

    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))

    async def request(self, method: str, path: str, **_: Any) -> Response:
        """Answer."""
        return Response(200, b'{"metadata":{"resourceVersion":"5"}}', [])


@dataclass(frozen=True, slots=True)
class Played:
    """What it took until all pods had come to their end."""

    seconds: float
    """Of a processor."""
    transitions: int
    events: int


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3, help="plays of which the median counts")
    parser.add_argument("--into", type=Path, help="JSON file that figures are added to")
    parser.add_argument("--profile", choices=_ROWS)
    given = parser.parse_args()
    collect_rarely()
    if given.profile:
        _profile(given.profile, given.pods)
        return
    is_whole = all(given.pods == ROWS[row].count for row in _ROWS.values())
    ledger = Ledger.without_cluster(given.into or (FILE if is_whole else None))
    for name, row in _ROWS.items():
        turns = [virtual_time.run(play(name, given.pods)) for _ in range(given.turns)]
        _note(ledger, row, given.pods, turns)
        report(f"{name}, {given.pods:,} pods", _details(turns[0], given.pods))


def _note(ledger: Ledger, row: str, pods: int, turns: Sequence[Played]) -> None:
    """Note the median of the CPU of a transition."""
    taken = sorted(each.seconds / each.transitions * 1e6 for each in turns)
    values = ", ".join(f"{each:.1f}" for each in taken)
    note = f"median of {len(taken)} plays: {values}"
    ledger.add(row, pods, statistics.median_low(taken), note=note)


def _details(played: Played, pods: int) -> list[Row]:
    return [
        Row("transitions of a pod", played.transitions / pods, ""),
        Row("Events of a pod", played.events / pods, ""),
    ]


def _profile(name: str, pods: int) -> None:
    profile = cProfile.Profile()
    profile.enable()
    virtual_time.run(play(name, pods))
    profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(45)


async def play(name: str, pods: int, devices: int = 0) -> Played:
    """Play a set of Stages on pods to their end; AssertionError if one does not come to it.

    `devices` is the number of GPUs that each pod asks for.
    """
    etcd = Etcd()
    controller = controller_of(stages_of(name), etcd, has_kubelet_pods=name == KUBELET_PODS)
    bodies = [orjson.dumps(_with(pod(number), devices)) for number in range(pods)]
    decoder = msgspec.json.Decoder(DecodedPod)
    began = time.process_time()

    async def until_done() -> None:
        for raw in bodies:
            controller.pods.note(decoder.decode(raw), raw)
        await asyncio.sleep(_LONGEST)

    await beside(controller.run(), until_done())
    used = time.process_time() - began
    _check(etcd, pods, devices)
    return Played(used, etcd.transitions, etcd.events)


def stages_of(name: str) -> tuple[Stage, ...]:
    """Return the Stages of a cluster that is created with a set."""
    return read(stages_in_force(cluster_options(stage=(name,)), ()).documents)


def controller_of(
    stages: Sequence[Stage], etcd: Etcd, *, has_kubelet_pods: bool = False
) -> Controller:
    """Return a controller that knows its nodes; must be called on the running loop."""
    loop = asyncio.get_running_loop()
    pool = Api()
    route = EtcdRoute(address="", store=ObjectStore(etcd), keys=Keys("/registry"))
    plane = etcd.plane = EtcdPlane(ApiPlane(pool), route, lambda: START + loop.time())
    settings = controller_settings(stages, has_kubelet_pods=has_kubelet_pods)
    context = ControllerContext(
        plane=plane,
        reader=ApiObjectReader(Client(pool)),
        random=Random(1),
        wall=lambda: START + loop.time(),
        faults=OpenFaults(FaultClock(lambda: START + loop.time())),
    )
    controller = Controller(settings, "bench", context)
    controller.pods_listed.set()
    for number in range(_NODES):
        raw = orjson.dumps(_node(number))
        controller.nodes.note(msgspec.json.decode(raw, type=DecodedNode), raw)
    return controller


async def beside(run: Coroutine[Any, Any, None], work: Coroutine[Any, Any, None]) -> None:
    """Do some work while something else runs."""
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(run)
        await work
        task.cancel()


def _node(number: int) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True"}
    address = {"type": "InternalIP", "address": f"198.18.0.{number}"}
    return {
        "metadata": {"name": f"node-{number}", "uid": f"uid-{number}", "resourceVersion": "7"},
        "spec": {"podCIDR": f"10.{number}.0.0/16", "podCIDRs": [f"10.{number}.0.0/16"]},
        "status": {
            "phase": "Running",
            "conditions": [ready],
            "addresses": [address],
            "capacity": {_GPU: str(_GPUS)},
            "allocatable": {_GPU: str(_GPUS)},
        },
    }


def pod(number: int) -> dict[str, Any]:
    """Return a pod of a Job as the API server shows it: each Stage of a set is for it once."""
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j", "controller": True}
    container = {"image": "busybox", "imagePullPolicy": "Always", "resources": {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"pod-{number:06d}",
            "namespace": "default",
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "resourceVersion": "8",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"job-name": "j"},
            "ownerReferences": [owner],
        },
        "spec": {
            "nodeName": f"node-{number % _NODES}",
            "restartPolicy": "Never",
            "initContainers": [{"name": "first", **container}],
            "containers": [{"name": "main", **container}],
        },
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def _with(body: dict[str, Any], devices: int) -> dict[str, Any]:
    """Let a pod ask for devices."""
    if devices:
        [main] = body["spec"]["containers"]
        main["resources"] = {part: {_GPU: str(devices)} for part in ("limits", "requests")}
    return body


def _check(etcd: Etcd, pods: int, devices: int) -> None:
    ended = [orjson.loads(value) for value in etcd.pods.values()]
    phases = Counter(each["status"]["phase"] for each in ended)
    assert phases == {"Succeeded": pods}, phases
    assert all(len(list(allocations_of(each))) == devices for each in ended)


if __name__ == "__main__":
    main()
