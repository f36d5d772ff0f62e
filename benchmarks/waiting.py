"""What objects cost the controller that wait for their Stage, and Stages that are not for an object.

In memory, without a cluster: `benchmarks.staged` measures the same waiting in one.

    python -m benchmarks.waiting [--pods 100000] [--seconds 20] [--into FILE]
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import msgspec
import orjson

from benchmarks.ledger import Ledger
from benchmarks.report import Row, report
from benchmarks.results import FILE
from benchmarks.stages import Etcd, beside, controller_of, pod, stages_of
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.controller.stages.compiled_stage import Kind, Stage, by_kind
from kwokctl.controller.stages.matcher import Matcher
from kwokctl.embedded.component_process import collect_rarely
from tests.support.stage_documents import read, stage

_POD = Kind("v1", "Pod")
_OTHERS = 500
_RUNS, _TURNS = 2_000, 25
_SETTLING = 2.0
"""Seconds."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument(
        "--into", type=Path, default=FILE, help="JSON file that figures are added to"
    )
    given = parser.parse_args()
    collect_rarely()
    alone, beside_pods = (asyncio.run(_idle(count, given.seconds)) for count in (0, given.pods))
    waiting = [
        Row("CPU of a core, no pods", alone, "%"),
        Row("CPU of a core, all wait for an hour", beside_pods, "%", 0.1),
    ]
    report(f"{given.pods:,} pods that wait", waiting)
    matching = _matching()
    report("Stages that are for a pod", matching)
    Ledger.without_cluster(given.into).add("matching", _OTHERS, matching[1].value)


async def _idle(pods: int, seconds: float) -> float:
    """Return the CPU that is used while so many pods wait, in percent of a core."""
    controller = controller_of(read([_in_an_hour()]), Etcd())
    used = 0.0

    async def rest() -> None:
        nonlocal used
        for number in range(pods):
            raw = orjson.dumps(pod(number))
            controller.pods.note(msgspec.json.decode(raw, type=DecodedPod), raw)
        await asyncio.sleep(_SETTLING)
        before = time.process_time()
        await asyncio.sleep(seconds)
        used = time.process_time() - before
        assert len(controller.delay_queue) == pods

    await beside(controller.run(), rest())
    return used / seconds * 100


def _in_an_hour() -> dict[str, object]:
    return stage("later", template="phase: Running", delay={"durationMilliseconds": 3_600_000})


def _matching() -> list[Row]:
    """Return what it costs to find the Stages of a pod: alone, and beside many others."""
    usual = stages_of("pod-general")
    steps = [{"delete": True}]
    other_kinds = read(stage(f"other-{n}", f"Kind{n % 50}", steps=steps) for n in range(_OTHERS))
    same_kind = read(stage(f"pod-{n}", phase=f"Phase{n}", steps=steps) for n in range(_OTHERS))
    alone, *others = _microseconds((usual, (*usual, *other_kinds), (*usual, *same_kind)))
    return [
        Row("the general set", alone, "µs"),
        Row(f"beside {_OTHERS} of other kinds, times that", others[0] / alone, "", 1.05),
        Row(f"beside {_OTHERS} of pods in other phases, times that", others[1] / alone, "", 1.05),
    ]


def _microseconds(sets: Sequence[Sequence[Stage]]) -> list[float]:
    """Return the time that a choice takes among the Stages of each set, measured in turns."""
    value = pod(1)
    finds = [Matcher(by_kind(stages)[_POD]).matches for stages in sets]
    turns = [[_timed(find, value) for find in finds] for _ in range(_TURNS)]
    return [median(figures) for figures in zip(*turns, strict=True)]


def _timed(find: Callable[[dict[str, object]], object], value: dict[str, object]) -> float:
    began = time.process_time()
    for _ in range(_RUNS):
        find(value)
    return (time.process_time() - began) / _RUNS * 1e6


if __name__ == "__main__":
    main()
