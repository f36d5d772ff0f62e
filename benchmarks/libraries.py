"""Measures clients side by side, each in processes of its own, in turns.

A busy machine is unfair to all alike then; medians and their ratios count. With `--instructions`
valgrind counts what the processes execute in user mode, which does not depend on how busy it is: two
runs of different length, so that what is done once does not count.
"""

import argparse
import json
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.report import Row, report

C = TypeVar("C")
_WARM_UP = 10
_VALGRIND = ("valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null")
_EXECUTED = re.compile(r"I\s+refs:\s+([\d,]+)")


@dataclass(frozen=True, slots=True)
class Work:
    """A kind of work, and how often a client does it."""

    name: str
    count: int
    unit: str
    executed: int = 1_000
    """How often while instructions are counted."""


@dataclass(frozen=True, slots=True)
class Contest:
    """Clients that do the same work."""

    title: str
    module: str
    """What measures one client: `python -m MODULE CLIENT WORK COUNT RUN …`."""
    clients: Sequence[str]
    """Ours first."""
    work: Sequence[Work]

    def run(self, *words: str) -> None:
        """Measure as the command line says, and print; `words` end each command."""
        parser = argparse.ArgumentParser(description=self.title)
        parser.add_argument("--work", nargs="+", help="only these kinds of work")
        parser.add_argument("--rounds", type=int, default=5)
        parser.add_argument("--instructions", action="store_true")
        options = parser.parse_args()
        measure = self._executed if options.instructions else self._spent
        for work in self.work:
            if not options.work or work.name in options.work:
                measure(work, options.rounds, words)

    def _spent(self, work: Work, rounds: int, words: Sequence[str]) -> None:
        turns = [
            {each: self._turn(each, work, f"{each}-{n}", words) for each in self.clients}
            for n in range(rounds)
        ]
        for each in self.clients:
            report(
                f"{self.title}, {work.name}, {rounds} turns: {each}",
                list(_figures(turns, each, work)),
            )

    def _turn(self, client: str, work: Work, run: str, words: Sequence[str]) -> Mapping[str, float]:
        command = self._command(client, work.name, work.count, run, words)
        figures: dict[str, float] = json.loads(_run(command).stdout)
        return figures

    def _executed(self, work: Work, _rounds: int, words: Sequence[str]) -> None:
        counted = {each: self._instructions(each, work, words) for each in self.clients}
        ours = counted[self.clients[0]]
        rows = [
            row
            for each, count in counted.items()
            for row in (
                Row(each, count / 1000, f"thousand instructions a {work.unit}"),
                Row(f"{each} / ours", count / ours, "times"),
            )
        ]
        report(f"{self.title}, {work.name}, instructions in user mode", rows)

    def _instructions(self, client: str, work: Work, words: Sequence[str]) -> float:
        few, many = work.executed, work.executed * 3
        first, second = (
            _count([*_VALGRIND, *self._command(client, work.name, count, f"v{count}", words)])
            for count in (few, many)
        )
        return (second - first) / ((many - few) * (1 + 1 / _WARM_UP))

    def _command(
        self, client: str, work: str, count: int, run: str, words: Sequence[str]
    ) -> list[str]:
        name = f"{client}-{run}".replace(" ", "-")
        return [sys.executable, "-m", self.module, client, work, str(count), name, *words]


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True)


def _count(command: Sequence[str]) -> int:
    found = _EXECUTED.search(_run(command).stderr)
    assert found is not None
    return int(found[1].replace(",", ""))


def _figures(
    turns: Sequence[Mapping[str, Mapping[str, float]]], client: str, work: Work
) -> Iterator[Row]:
    """Yield what a client took; ratios are medians of those within a turn."""

    def median(what: str) -> float:
        return statistics.median(turn[client][what] for turn in turns)

    for what, text in (("user", "user mode"), ("system", "kernel"), ("wall", "time")):
        yield Row(f"{text} for a {work.unit}", median(what) / work.count * 1e6, "us")
    ratios = [turn[client]["cpu"] / turn["ours"]["cpu"] for turn in turns]
    yield Row(f"CPU for a {work.unit}", median("cpu") / work.count * 1e6, "us")
    yield Row("CPU / ours", statistics.median(ratios), "times")
    yield Row("CPU / ours, least", min(ratios), "times")
    yield Row("CPU / ours, most", max(ratios), "times")
    yield Row("loading it", median("load") * 1e3, "ms CPU")
    yield Row("memory at the peak", median("peak"), "MB")


async def measured(
    opened: Callable[[], C], work: Callable[[C, int, str], Awaitable[None]], count: int, run: str
) -> dict[str, float]:
    """Open a client and have it work: first a tenth, so that what is done once does not count."""
    began = time.process_time()
    client = opened()
    load = time.process_time() - began
    await work(client, count // _WARM_UP, f"{run}-warm")
    before, started = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    await work(client, count, run)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
    return {
        "load": load,
        "user": user,
        "system": system,
        "cpu": user + system,
        "wall": wall,
        "peak": _peak(),
    }


def _peak() -> float:
    """Return the most memory that this process has held, in MB; not what its parent had held."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
