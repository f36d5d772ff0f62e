"""What pods cost that live as on a kubelet: CPU of a write beside that of Stages, and memory of crash loops.

The whole controller plays pods in memory, on a clock that jumps, as in `benchmarks.stages`. For the loops
all pods crash a second after each start; memory is read after the first minutes and at the end.

    python -m benchmarks.lifecycle [--pods 10000] [--minutes 10]
"""

import argparse
import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import orjson

from benchmarks.report import Row, report
from benchmarks.stages import Etcd, Played, beside, controller_of, play, pod
from kwokctl.components.stage_sets import KUBELET_PODS
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.embedded.process import collect_rarely
from tests.support import virtual_time

_RATIO = 1.3
"""Of the CPU of a write of the general set."""
_GROWTH = 2.0
"""MB a minute that count as none."""
_WARM = 2
"""Minutes after which memory is read first."""
_TURNS = 3


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--minutes", type=int, default=10)
    given = parser.parse_args()
    collect_rarely()
    report(f"{given.pods:,} pods as on a kubelet, without transport", _writes(given.pods))
    sizes = virtual_time.run(_loops(given.pods, given.minutes))
    growth = (sizes[-1] - sizes[0]) / max(len(sizes) - 1, 1)
    rows = [
        Row("memory after the first minutes", sizes[0], "MB"),
        Row("memory at the end", sizes[-1], "MB"),
        Row("growth a minute", growth, "MB", _GROWTH),
    ]
    report(f"{given.pods:,} pods that crash for {given.minutes} minutes", rows)


def _writes(pods: int) -> list[Row]:
    general, kubelet = (_cheapest(name, pods) for name in ("pod-general", KUBELET_PODS))
    return [
        Row("pod-general: CPU of a write", general, "us"),
        Row("pod-kubelet: CPU of a write", kubelet, "us"),
        Row("ratio", kubelet / general, "", _RATIO),
    ]


def _cheapest(name: str, pods: int) -> float:
    turns = [virtual_time.run(play(name, pods)) for _ in range(_TURNS)]
    return min(map(_of_a_write, turns))


def _of_a_write(played: Played) -> float:
    return played.seconds / (played.transitions + played.events) * 1e6


async def _loops(pods: int, minutes: int) -> list[float]:
    """Let pods crash; return the memory of this process, minute by minute."""
    etcd, sizes = Etcd(), list[float]()
    controller = controller_of((), etcd, has_kubelet_pods=True)
    decoder = msgspec.json.Decoder(DecodedPod)

    async def crash() -> None:
        for number in range(pods):
            raw = orjson.dumps(_crashing(number))
            controller.pods.note(decoder.decode(raw), raw)
        await asyncio.sleep(_WARM * 60)
        for _ in range(max(minutes - _WARM, 1)):
            sizes.append(_resident())
            await asyncio.sleep(60)
        sizes.append(_resident())

    await beside(controller.run(), crash())
    return sizes


def _crashing(number: int) -> dict[str, Any]:
    body = pod(number)
    body["metadata"]["annotations"] = {"kwokctl.dev/program": "run=1s exit=1"}
    del body["spec"]["initContainers"]
    body["spec"]["restartPolicy"] = "Always"
    return body


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


if __name__ == "__main__":
    main()
