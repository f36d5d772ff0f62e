"""Runs commands side by side, shows their lines as they write them, and ends with one summary of all.

What a command writes is read as a pytest's: its failures are shown when it ends; the tests that were skipped or have
failed, and their numbers, come last, and the processor time of each.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.support.processor_time import Groups, counted

NO_TESTS = 5
"""The exit code of a pytest that has found nothing to run."""
PARALLEL_LANES = 6
"""Lanes at a time, in their order: with more, two processors spend more on changing between programs than they gain."""
_INTERRUPTED = 2
"""The exit code of an interrupted pytest."""

_ROOT = Path(__file__).parents[2]
_START, _SUMMARY = "test session starts", "short test summary info"
_HEADING = re.compile(r"=+ (.+?) =+")
_NUMBERS = re.compile(r" in [\d.]+s\b")
_OUTCOME = re.compile(r"(\d+) (passed|failed|error|skipped|xfailed|xpassed)")


@dataclass(slots=True)
class Report:
    """How a lane has ended."""

    name: str
    code: int = 0
    details: list[str] = field(default_factory=list)
    """The sections of failures, and others."""
    summary: list[str] = field(default_factory=list)
    """The tests that were skipped or have failed, a line each."""
    numbers: str = ""
    """How many tests have passed, failed and so on, and in what time."""
    seconds: float = 0.0
    """The processor time of its processes that were waited for."""


class Run:
    """A lane's command at work."""

    def __init__(self, name: str, command: Sequence[str], groups: Groups | None = None) -> None:
        self._name = name
        self._process = subprocess.Popen(
            groups.entered(name, command) if groups else command,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )

    def interrupt(self) -> None:
        """End it as Ctrl-C does, with the command that its test runs: it deletes what it has made."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGINT)

    def follow(self) -> Report:
        """Show what it does until it has ended."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            report = self._read(line.rstrip() for line in lines)
        self._end(report)
        ended = report.numbers or f"ended with exit code {report.code}"
        if report.code and not report.numbers:
            report.summary.append(f"FAILED the lane '{self._name}': exit code {report.code}")
        self._show("\n".join([*report.details, ended]))
        return report

    def _end(self, report: Report) -> None:
        _, status, usage = os.wait4(self._process.pid, 0)
        report.code = self._process.returncode = os.waitstatus_to_exitcode(status)
        report.seconds = usage.ru_utime + usage.ru_stime

    def _read(self, lines: Iterable[str]) -> Report:
        report, heading = Report(self._name), _START
        for line in lines:
            found = _HEADING.fullmatch(line)
            heading = found[1] if found else heading
            if heading == _START:
                self._show("" if found else line)
            elif heading == _SUMMARY:
                report.summary += [] if found else [line]
            elif _NUMBERS.search(heading):
                report.numbers = heading
            else:
                report.details.append(line)
        return report

    def _show(self, text: str) -> None:
        if text:
            # One write: the lines of another lane come before or after it.
            sys.stdout.write(f"{self._name:<9} | {text}\n")
            sys.stdout.flush()


class _Runs:
    """All that run, which one signal ends."""

    def __init__(self, groups: Groups | None) -> None:
        self._groups = groups
        self._runs: list[Run] = []
        self._interrupted = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._interrupt)

    def follow(self, name: str, command: Sequence[str]) -> Report:
        """Run a command to its end."""
        if self._interrupted.is_set():
            said = f"FAILED the lane '{name}': interrupted before it began"
            return Report(name, _INTERRUPTED, summary=[said])
        begun = Run(name, command, self._groups)
        self._runs.append(begun)
        if self._interrupted.is_set():
            begun.interrupt()
        return begun.follow()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted.set()
        for each in self._runs:
            each.interrupt()


def run(
    *rounds: Mapping[str, Sequence[str]],
    beside: Mapping[str, Sequence[str]] = {},
    absent: Mapping[str, str] = {},
) -> int:
    """Run the command of each lane, one round after the other; return the exit code of them all.

    The lanes of `beside` begin at once, and the rounds do not wait for them. For lanes that are `absent` the summary
    says why.
    """
    began = time.monotonic()
    with counted() as groups, ThreadPoolExecutor(PARALLEL_LANES) as pool:
        follow = _Runs(groups).follow
        first = pool.map(follow, beside, beside.values())
        reports = [report for each in rounds for report in pool.map(follow, each, each.values())]
        reports += first
        _show_summary(reports, absent)
        _show_processor_time(reports, groups)
        _show_numbers(reports, time.monotonic() - began)
    return exit_code(report.code for report in reports)


def _show_summary(reports: Sequence[Report], absent: Mapping[str, str]) -> None:
    _heading(_SUMMARY)
    for name, why in absent.items():
        print(f"SKIPPED the lane '{name}': {why}")
    for report in reports:
        print("".join(f"{line}\n" for line in report.summary), end="")


def _show_processor_time(reports: Sequence[Report], groups: Groups | None) -> None:
    if groups:
        taken = {report.name: groups.seconds(report.name) for report in reports}
        taken["containers"] = groups.of_containers()
        counted_by = "of all processes, by control groups"
    else:
        taken = {report.name: report.seconds for report in reports}
        counted_by = "of processes that were waited for: no control group can be made"
    _heading(f"processor time {counted_by}")
    for name, seconds in sorted(taken.items(), key=lambda each: -each[1]):
        print(f"{name:<10} | {seconds:6.0f} s")
    print(f"{'all':<10} | {sum(taken.values()):6.0f} s")


def _show_numbers(reports: Sequence[Report], seconds: float) -> None:
    numbers = total(report.numbers for report in reports)
    _heading(f"{numbers} in {seconds:.0f}s ({len(reports)} lanes)")


def _heading(text: str) -> None:
    print(f" {text} ".center(80, "="))


def total(numbers: Iterable[str]) -> str:
    """Add up the numbers of tests by their outcome."""
    sums: Counter[str] = Counter()
    for number, outcome in _OUTCOME.findall("\n".join(numbers)):
        sums[outcome] += int(number)
    return ", ".join(f"{number} {outcome}" for outcome, number in sums.items()) or "no tests ran"


def exit_code(codes: Iterable[int]) -> int:
    """Return 0 if all is well; that a lane has no tests matters only if none has any."""
    found = set(codes)
    return max(map(abs, found - {NO_TESTS}), default=NO_TESTS if found else 0)
