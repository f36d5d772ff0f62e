"""What a test of the example project takes, and its rewind, as pytest measures both.

    python -m benchmarks.example [--into FILE]

The project's tests change 50 objects each. Figures are medians of all but the first, which prepares the cluster. This module is
also the plugin of that pytest that writes down how long each test takes.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from benchmarks.cluster import BenchCluster, FailedError, fresh_cluster
from benchmarks.ledger import Ledger
from benchmarks.results import FILE
from kwokctl.kube.client import Client

_PROJECT = Path(__file__).parents[1] / "examples" / "pytest"
_TEST = "test_widgets_are_as_large_as_they_were_made"
_PHASES = "BENCH_PHASES"
"""The variable with the file that gets a line for each phase of each test."""
_CHANGED = 50


class _Phase(Protocol):
    """What pytest reports of the preparation, the call or the end of a test."""

    nodeid: str
    when: str
    duration: float


def pytest_runtest_logreport(report: _Phase) -> None:
    """Write down how long a phase took."""
    with Path(os.environ[_PHASES]).open("a") as file:
        print(json.dumps([report.nodeid, report.when, report.duration]), file=file)


def main() -> None:
    """Run the project in a new cluster."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--into", type=Path, default=FILE, help="JSON file that figures are added to"
    )
    into = parser.parse_args().into
    with fresh_cluster() as cluster:
        asyncio.run(_measure(cluster, into))


async def _measure(cluster: BenchCluster, into: Path) -> None:
    phases = cluster.workdir / "phases"
    await _run(cluster, phases)
    tests = list(_read(phases).values())[1:]
    async with cluster.pool() as pool:
        ledger = await Ledger.open(cluster, Client(pool), into)
    note = f"of {len(tests)} tests"
    whole = statistics.median(sum(each.values()) for each in tests)
    ledger.add("test", _CHANGED, whole, note=note)
    ledger.add(
        "test-rewind", _CHANGED, statistics.median(each["setup"] for each in tests), note=note
    )


async def _run(cluster: BenchCluster, phases: Path) -> None:
    words = ("--kwok-cluster=bench", "-p", "benchmarks.example", "-p", "no:cacheprovider", "-q")
    running = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", *words, "-k", _TEST, str(_PROJECT)),
        env=os.environ | {"KWOK_WORKDIR": str(cluster.workdir), _PHASES: str(phases)},
        stdout=asyncio.subprocess.PIPE,
    )
    said, _ = await running.communicate()
    if running.returncode:
        raise FailedError(said.decode())


def _read(phases: Path) -> Mapping[str, Mapping[str, float]]:
    """Return how long the phases of each test took, by its name."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for test, phase, seconds in map(json.loads, phases.read_text().splitlines()):
        found[test][phase] = seconds
    return found


if __name__ == "__main__":
    main()
