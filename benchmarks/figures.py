"""What the report on a large record costs: `kwokctl measure FILE` over 100,000 pods and 2 million changes.

    python -m benchmarks.figures [--pods 100000] [--nodes 1000] [--record FILE]

Jobs of ten pods with 1, 2, 4 or 8 GPUs come and go on nodes of 8. A pod has twenty lines: it waits for four
reasons, is bound, runs, is Ready and not Ready in turn, ends, and is gone.
"""

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row, report
from kwokctl.measure.record.fleet_lines import NodeSeen
from kwokctl.measure.record.record_file import RecordWriter
from kwokctl.measure.record.record_lines import (
    Header,
    JobChange,
    JobSeen,
    Lines,
    PodChange,
    PodGone,
    PodSeen,
    PodShape,
    RecordText,
    RunMoment,
    RunScope,
)

_SECONDS, _MEMORY = 30.0, 500.0
_SECOND = 1_000_000_000
_PODS_OF_JOB = 10
_WAITS, _FLAPS = 4, 5
_SIZES = (1, 2, 4, 8)
_SCHEDULED, _READY, _NODE, _REASON = 1, 2, 3, 4
_WAIT = "0/1000 nodes are available: 990 Insufficient nvidia.com/gpu, {} Insufficient cpu."


def _lines(pods: int, nodes: int) -> Iterator[Lines]:
    yield RecordText(_SCHEDULED, "Initialized,PodScheduled")
    yield RecordText(_READY, "Initialized,Ready,ContainersReady,PodScheduled")
    yield RecordText(_NODE, "cpu=96,memory=1Ti,nvidia.com/gpu=8,pods=110")
    for number in range(_WAITS):
        yield RecordText(_REASON + number, _WAIT.format(number))
    for number in range(nodes):
        yield NodeSeen(0, number, _node(number), True, _NODE, 0, 0, True, False)
    yield RunMoment(0, "begin")
    changes: list[tuple[int, int, Lines]] = []
    for number in range(pods // _PODS_OF_JOB):
        changes += (
            (line[0], len(changes) + place, line[1])
            for place, line in enumerate(_job(number, nodes))
        )
    changes.sort()
    for _, _, line in changes:
        yield line
    yield RunMoment(changes[-1][0] + _SECOND, "end")


def _node(number: int) -> str:
    return f"node-{number:06}"


def _job(number: int, nodes: int) -> Iterator[tuple[int, Lines]]:
    """Yield what happens to a Job and its pods, with the times."""
    begin, uid = number * _SECOND // 3, f"uid-of-job-{number:025}"
    size = _SIZES[number % len(_SIZES)]
    yield (
        begin,
        JobSeen(begin, number, uid, "default", f"job-{number}", "", _PODS_OF_JOB, {}, "", False),
    )
    yield (
        begin,
        PodShape(number, "Job", f"job-{number}", uid, 0, f"cpu=8,nvidia.com/gpu={size}", {}),
    )
    for place in range(_PODS_OF_JOB):
        yield from _pod(number * _PODS_OF_JOB + place, number, begin + place, nodes)
    end = begin + 100 * _SECOND
    yield end, JobChange(end, number, "Complete", _PODS_OF_JOB)


def _pod(number: int, shape: int, time: int, nodes: int) -> Iterator[tuple[int, Lines]]:
    """Yield the twenty lines of a pod."""
    node, uid = _node(number * 7 % nodes), f"uid-of-pod-{number:025}"
    yield (
        time,
        PodSeen(
            time,
            number,
            uid,
            "default",
            f"job-{shape}-{number}",
            shape,
            "",
            "Pending",
            0,
            1_767_323_045,
            False,
        ),
    )
    for wait in range(_WAITS):
        time += _SECOND
        yield time, PodChange(time, number, "", "Pending", 0, _REASON + wait)
    states = [("Pending", 0), ("Pending", _SCHEDULED)]
    states += [("Running", _SCHEDULED), ("Running", _READY)] * _FLAPS + [("Succeeded", _SCHEDULED)]
    for phase, conditions in states:
        time += 5 * _SECOND
        yield time, PodChange(time, number, node, phase, conditions)
    yield time + 1, PodChange(time + 1, number, node, "Succeeded", _SCHEDULED, 0, True)
    yield time + 2, PodGone(time + 2, number)


def _write(path: Path, pods: int, nodes: int) -> None:
    header = Header(wall="", kwokctl="", scope=RunScope(), conditions={})
    with RecordWriter(path) as writer:
        writer.begin(header)
        for line in _lines(pods, nodes):
            writer.add(line)
        print(f"{writer.lines:,} lines")


def main() -> None:
    """Measure it once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pods", type=int, default=100_000)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument(
        "--record", type=Path, help="keep the record in this file, or take it from there"
    )
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = words.record or Path(folder) / "run.jsonl.gz"
        if not path.exists():
            # The peak of a program's memory is at least what its parent holds when it starts it.
            spawned = multiprocessing.get_context("spawn")
            writer = spawned.Process(target=_write, args=(path, words.pods, words.nodes))
            writer.start()
            writer.join()
        command = [sys.executable, "-m", "kwokctl", "measure", "report", str(path), "-o", "json"]
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        # Of this process alone: that which has written the record may have taken more.
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"the report ended with {process.returncode}")
    report(f"the report on {words.pods:,} pods", [
        Row("CPU", used.ru_utime + used.ru_stime, "s", _SECONDS),
        Row("time", took, "s"),
        Row("memory", used.ru_maxrss * 1024 / 1e6, "MB", _MEMORY),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
