"""What a storm costs, and how late its faults and their signals come: the story `storm` of `benchmarks.faults`.

A day of the interruptions of Llama 3's training, at 130 times their rate, is played in 24 minutes (`timeScale: 60`) on 2,000 nodes beside 50 gangs: some
1,000 incidents. With a scale below 1 there are fewer nodes and gangs, and the storm is shorter: a quarter of a day at the least.
"""

import statistics
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.cluster import BenchCluster
from benchmarks.meter import Meter
from benchmarks.observer import Observer
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.faults.truth.fault_truth import TruthEntry
from kwokctl.json_value import Json
from kwokctl.kube.client import Client
from kwokctl.kube.resource import FAULT_SCHEDULES, FAULTS, JOBS

_NODES, _GANGS, _SIZE = 2_000, 50, 16
_DAY, _SPEED = 86_400.0, 60.0
_SHORTEST = 0.25
_SCHEDULE = """
apiVersion: kwokctl.dev/v1alpha1
kind: FaultSchedule
metadata: {name: storm}
spec: {horizon: %ds, seed: 7, profile: llama3-h100, rateFactor: 130, timeScale: 60}
"""
_CONTROLLER, _KUBELET = "kwok-controller", "kwok-kubelet"
_entries = msgspec.json.Decoder(TruthEntry).decode


async def storm(cluster: BenchCluster, client: Client, scale: float) -> Mapping[str, float]:
    """Play a storm on a fleet that works."""
    nodes = max(round(_NODES * scale), 1)
    await cluster.kwokctl("scale", "dgx-h100", f"--replicas={nodes}", "--wait")
    for number in range(max(round(_GANGS * scale), 1)):
        await client.create(JOBS, "default", _gang(number))
    lasts = _DAY * min(max(scale, _SHORTEST), 1.0)
    meter = Meter(cluster, client.pool, Observer())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "storm.yaml"
        file.write_text(_SCHEDULE % lasts)

        async def play() -> None:
            await cluster.kwokctl("fault", "run", "-f", str(file), "--wait")

        measured = await meter.command(play)
    log = await cluster.kwokctl("fault", "log", "-o", "json")
    found = await client.get(FAULT_SCHEDULES, None, "storm")
    status, seconds = found["status"], lasts / _SPEED
    return {
        "nodes": nodes,
        "planned faults": status["planned"],
        "injected": status.get("injected", 0),
        "suppressed": status.get("suppressed", 0),
        **_figures("a fault after its time", await _delays(cluster, client, found)),
        **_figures("the last signal of a unit after its time", _signals(log)),
        **{
            f"CPU of {program}, % of a core": measured.cpu[program] / seconds * 100
            for program in (_CONTROLLER, _KUBELET)
        },
        f"memory of {_CONTROLLER}, MB": meter.memory()[_CONTROLLER],
    }


def _gang(number: int) -> bytes:
    """Return a Job whose pods take whole nodes, and begin again where one fails."""
    container: Json = {
        "name": "train",
        "image": "train",
        "resources": {"limits": {"nvidia.com/gpu": "8"}},
    }
    pod: Json = {"restartPolicy": "Never", "containers": [container]}
    body = {
        "apiVersion": JOBS.api_version,
        "kind": JOBS.kind,
        "metadata": {"name": f"gang-{number}"},
        "spec": {
            "parallelism": _SIZE,
            "completions": _SIZE,
            "completionMode": "Indexed",
            "backoffLimit": 1_000_000,
            "template": {"spec": pod},
        },
    }
    return msgspec.json.encode(body)


async def _delays(
    cluster: BenchCluster, client: Client, schedule: Mapping[str, Json]
) -> list[float]:
    """Return how many seconds after their times by the plan the Faults of a storm have begun."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "storm.yaml"
        file.write_text(_SCHEDULE % parse_duration(schedule["spec"]["horizon"]))
        plan = await cluster.kwokctl("fault", "plan", "-f", str(file), "-o", "json")
    times = [each["at"] for each in msgspec.json.decode(plan)["faults"]]
    start = schedule["status"]["start"]
    found: list[float] = []
    for fault in msgspec.json.decode(await client.call("GET", FAULTS.path()))["items"]:
        number = int(fault["metadata"]["name"].rpartition("-")[2])
        found.append(fault["status"]["clock"] - start - times[number] / _SPEED)
    return found


def _signals(log: bytes) -> list[float]:
    """Return how many seconds after it was due the last signal of each unit was shown."""
    began: dict[tuple[str, str, int | None], float] = {}
    found: list[float] = []
    for entry in map(_entries, log.splitlines()):
        unit = (entry.fault, entry.node, entry.gpu)
        if entry.phase == "injected":
            began[unit] = parse_time(entry.wall)
        elif entry.phase == "landed":
            found.append(parse_time(entry.wall) - began[unit] - entry.t)
    return found


def _figures(what: str, seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"{what}, median, ms": statistics.median(ordered) * 1000,
        f"{what}, p99, ms": ordered[int(0.99 * len(ordered))] * 1000,
        f"{what}, at most, ms": ordered[-1] * 1000,
    }
