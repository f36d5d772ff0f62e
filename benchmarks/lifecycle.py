"""What pods cost that live as on a kubelet: CPU of a write beside that of Stages, memory of crash loops, lateness.

Those with GPUs are measured beside those without.

The whole controller plays pods in memory, on a clock that jumps, as in `benchmarks.stages`. For the loops
all pods crash a second after each start; memory is read after the first minutes and at the end. How late the start and
the end of a container are written is measured on a real clock, with crash loops of fewer pods that begin in one second.

    python -m benchmarks.lifecycle [--pods 10000] [--minutes 10] [--punctual 200]
"""

import argparse
import asyncio
import os
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson

from benchmarks.report import Row, report
from benchmarks.stages import PODS_PREFIX, START, Etcd, Played, beside, controller_of, play, pod
from kwokctl.components.stage_sets import KUBELET_PODS
from kwokctl.controller.engine.decoded import DecodedPod
from kwokctl.embedded.component_process import collect_rarely
from kwokctl.etcd.kv.kv import Put, Txn, TxnAnswer
from kwokctl.expr.duration import parse_time
from tests.support import virtual_time

_RATIO = 1.3
"""Of the CPU of a write of the general set."""
_GPUS = 2
"""For each pod of those with GPUs."""
_DEVICES_RATIO = 1.2
"""Of the CPU of a change of a pod without."""
_GROWTH = 2.0
"""MB a minute that count as none."""
_WARM = 2
"""Minutes after which memory is read first."""
_TURNS = 3
_LATE = 1.0
"""Seconds after its due time in which a change is written."""
_CRASHES = 16
"""Seconds in which a container starts and ends three times."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--minutes", type=int, default=10)
    parser.add_argument("--punctual", type=int, default=200)
    given = parser.parse_args()
    collect_rarely()
    report(f"{given.pods:,} pods as on a kubelet, without transport", _writes(given.pods))
    report(f"{given.pods:,} pods with GPUs, without transport", _devices(given.pods))
    sizes = virtual_time.run(_loops(given.pods, given.minutes))
    growth = (sizes[-1] - sizes[0]) / max(len(sizes) - 1, 1)
    rows = [
        Row("memory after the first minutes", sizes[0], "MB"),
        Row("memory at the end", sizes[-1], "MB"),
        Row("growth a minute", growth, "MB", _GROWTH),
    ]
    report(f"{given.pods:,} pods that crash for {given.minutes} minutes", rows)
    late = asyncio.run(_lateness(given.punctual))
    rows = [
        Row("written after it was due, 99th percentile", _percentile(late, 0.99), "s", _LATE),
        Row("at most", late[-1], "s"),
        Row("starts and ends", len(late), ""),
    ]
    report(f"{given.punctual:,} pods that crash at the same moments", rows)


def _writes(pods: int) -> list[Row]:
    """Return what a write costs: a change of a pod, or an Event, of which those of kubelets have more."""
    general, kubelet = (_cheapest(name, pods) for name in ("pod-general", KUBELET_PODS))
    return [
        Row("pod-general: CPU of a write", _of_a_write(general), "us"),
        Row("pod-kubelet: CPU of a write", _of_a_write(kubelet), "us"),
        Row("ratio", _of_a_write(kubelet) / _of_a_write(general), "", _RATIO),
        Row("pod-general: CPU of a change with its Events", _of_a_change(general), "us"),
        Row("pod-kubelet: CPU of a change with its Events", _of_a_change(kubelet), "us"),
    ]


def _devices(pods: int) -> list[Row]:
    """Return what a pod with GPUs costs beside one without, alternating: the median of their ratios."""
    pairs = [
        [_of_a_change(virtual_time.run(play(KUBELET_PODS, pods, number))) for number in (0, _GPUS)]
        for _ in range(_TURNS)
    ]
    ratios = [with_devices / plain for plain, with_devices in pairs]
    return [
        Row("without: CPU of a change with its Events", min(each[0] for each in pairs), "us"),
        Row(f"{_GPUS} GPUs: CPU of a change with its Events", min(each[1] for each in pairs), "us"),
        Row("ratio", statistics.median(ratios), "", _DEVICES_RATIO),
    ]


def _cheapest(name: str, pods: int) -> Played:
    turns = [virtual_time.run(play(name, pods)) for _ in range(_TURNS)]
    return min(turns, key=_of_a_write)


def _of_a_change(played: Played) -> float:
    return played.seconds / played.transitions * 1e6


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


class _TimedEtcd(Etcd):
    """Notes how late the start and the end of each container are written: both are due at whole seconds."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._known: dict[bytes, float] = {}

    async def txn(self, txn: Txn, *, within: float = 0) -> TxnAnswer:
        """Accept a write."""
        now = START + asyncio.get_running_loop().time()
        for put in txn.then:
            if isinstance(put, Put) and put.key.startswith(PODS_PREFIX):
                self._note(put.key, put.value, now)
        return await super().txn(txn, within=within)

    def _note(self, key: bytes, value: bytes, now: float) -> None:
        [container] = orjson.loads(value)["status"]["containerStatuses"]
        state = container["state"]
        text = state.get("running", {}).get("startedAt") or state.get("terminated", {}).get(
            "finishedAt"
        )
        if text is not None and self._known.get(key) != (moment := parse_time(text)):
            self._known[key] = moment
            self.late.append(now - moment)


async def _lateness(pods: int) -> list[float]:
    """Let pods crash on a real clock; return how late each start and end was written, in order."""
    etcd = _TimedEtcd()
    controller = controller_of((), etcd, has_kubelet_pods=True)
    decoder = msgspec.json.Decoder(DecodedPod)

    async def crash() -> None:
        for number in range(pods):
            raw = orjson.dumps(_crashing(number))
            controller.pods.note(decoder.decode(raw), raw)
            await asyncio.sleep(1 / pods)
        await asyncio.sleep(_CRASHES)

    await beside(controller.run(), crash())
    return sorted(etcd.late)


def _percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


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
