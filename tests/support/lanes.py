"""Run the tests in lanes, side by side: `python -m tests.support.lanes`, with words for pytest.

Most tests wait for programs that start and stop, so a lane that waits leaves its processor to
another. What two tests cannot use at once is used in one lane only, one test after the other:
the rules that a dockerd makes in the packet filter, which a second one would overwrite, and Podman.
The Dockers of kind's lanes make none: kind's nodes need only published ports, for which they have a
proxy.

The first commands of the README come before all others, from a clone: on a new machine they get the programs
that the others use.

Each lane is a pytest of its own, and what `make check` does is one more. Its lines are shown as it
writes them, its failures when it ends; the skipped and failed tests of all lanes, and their
numbers, come last.
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
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from tests.support.kernel import raise_limits

ENGINES = ("none", "docker", "kind", "podman")
"""What a test may need to run containers: the choices of the option `--engine`."""

NO_TESTS = 5
"""The exit code of a pytest that has found nothing to run."""
AT_ONCE = 6
"""Lanes at a time, in their order: with more, two processors spend more on changing between programs than they gain."""
_INTERRUPTED = 2
"""The exit code of an interrupted pytest."""

_ROOT = Path(__file__).parents[2]
_START, _SUMMARY = "test session starts", "short test summary info"
_HEADING = re.compile(r"=+ (.+?) =+")
_NUMBERS = re.compile(r" in [\d.]+s\b")
_OUTCOME = re.compile(r"(\d+) (passed|failed|error|skipped|xfailed|xpassed)")


_WITH_PROGRAMS = ("tests/contract", "tests/e2e")
_DATA_PATH = "tests/e2e/test_data_path_*.py"
_ROUNDS = (
    "tests/e2e/test_usage.py",
    "tests/e2e/test_heartbeats.py",
    "tests/e2e/test_sharing_nodes.py",
)
"""Tests that mostly wait for what happens every few seconds."""
_LIVES = ("tests/e2e/test_create.py", "tests/e2e/test_documents.py", "tests/e2e/test_story.py")
"""Whole lives of clusters: beside the rounds, so that no lane goes on alone with one processor at the end."""
_APART = (*_ROUNDS, *_LIVES)
_ON_KIND = ("tests/e2e/test_every_runtime.py", "tests/e2e/test_usage.py")
"""Half of what runs on kind: a second engine costs less than a lane that goes on alone."""
_FROM_A_CLONE = "tests/first_day/test_from_a_clone.py"
_STORIES = (
    "tests/e2e/test_rewind.py",
    "tests/e2e/test_every_runtime.py",
    "tests/e2e/test_dry_run.py",
    "tests/e2e/test_recovery.py",
    "tests/e2e/test_stage_sets.py",
    "tests/e2e/test_python_programs.py",
    "tests/e2e/test_pytest_workers.py",
)
"""Half of what runs as processes."""


def _without(files: Iterable[str]) -> Sequence[str]:
    return [f"--ignore={file}" for file in files]


LANES: Mapping[str, Sequence[str]] = {
    "first day": ("tests/first_day", *_without((_FROM_A_CLONE,))),
    "docker": (*_WITH_PROGRAMS, "--engine=docker"),
    "kind": (*_WITH_PROGRAMS, "--engine=kind", *_without(_ON_KIND)),
    "kind life": (*_ON_KIND, "--engine=kind"),
    "podman": (*_WITH_PROGRAMS, "--engine=podman"),
    "processes": (
        *_WITH_PROGRAMS,
        "--engine=none",
        f"--ignore-glob={_ROOT}/{_DATA_PATH}",
        *_without((*_APART, *_STORIES)),
    ),
    "stories": (*_STORIES, "--engine=none"),
    "data path": (*sorted(str(path.relative_to(_ROOT)) for path in _ROOT.glob(_DATA_PATH)),),
    "lives": (*_APART, "--engine=none"),
    "python": ("tests/unit", "tests/cli", "tests/packaging"),
}
"""What selects the tests of each lane; each test is in one of them, or in one of those that come first."""

FIRST: Mapping[str, Sequence[str]] = {"clone": (_FROM_A_CLONE,)}
"""On a new machine these get the programs, as the first command of a new user does: all others need them."""
COMPONENTS: Mapping[str, Sequence[str]] = {
    "components": ("make", "--no-print-directory", "components")
}
"""What the others need besides."""

_COMPUTES = "python"
_BEHIND = ("nice", "-n", "5")
"""Before a lane that waits most of the time: with an equal share of the processors, the one that only computes would
end last, alone with one of them."""

CHECK: Mapping[str, Sequence[str]] = {"check": ("make", "--no-print-directory", "check")}
"""What reads the code rather than runs it: beside the tests, for it uses one processor only."""


def engine_of(marks: Iterable[str]) -> str:
    """Return the engine that a test with these marks needs."""
    found = set(marks)
    return next((engine for engine in ("podman", "kind", "docker") if engine in found), "none")


@dataclass(slots=True)
class Report:
    """How a lane has ended."""

    code: int = 0
    details: list[str] = field(default_factory=list)
    """The sections of failures, and others."""
    summary: list[str] = field(default_factory=list)
    """The tests that were skipped or have failed, a line each."""
    numbers: str = ""
    """How many tests have passed, failed and so on, and in what time."""


class Run:
    """A lane's pytest at work."""

    def __init__(self, name: str, command: Sequence[str]) -> None:
        self._name = name
        self._process = subprocess.Popen(
            command,
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
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)

    def follow(self) -> Report:
        """Show what it does until it has ended."""
        assert self._process.stdout is not None
        with self._process:
            report = self._read(line.rstrip() for line in self._process.stdout)
        report.code = self._process.returncode
        ended = report.numbers or f"ended with exit code {report.code}"
        if report.code and not report.numbers:
            report.summary.append(f"FAILED the lane '{self._name}': exit code {report.code}")
        self._show("\n".join([*report.details, ended]))
        return report

    def _read(self, lines: Iterable[str]) -> Report:
        report, heading = Report(), _START
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


def commands(
    lanes: Mapping[str, Sequence[str]], words: Sequence[str]
) -> Mapping[str, Sequence[str]]:
    """Return how the pytest of each lane is called, with more words of the caller."""
    pytest = [sys.executable, "-m", "pytest", "--no-header"]
    # Lanes would overwrite each other's record of what has failed.
    return {
        name: [
            *(() if name == _COMPUTES else _BEHIND),
            *pytest, "-o", f"cache_dir=.pytest_cache/{name.replace(' ', '-')}", *own, *words,
        ]
        for name, own in lanes.items()
    }  # fmt: skip


def run(*rounds: Mapping[str, Sequence[str]]) -> int:
    """Run the command of each lane, one round after the other; return the exit code of them all."""
    began = time.monotonic()
    runs: list[Run] = []
    interrupted = threading.Event()

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupted.set()
        for each in runs:
            each.interrupt()

    def follow(name: str, command: Sequence[str]) -> Report:
        if interrupted.is_set():
            return Report(
                _INTERRUPTED, summary=[f"FAILED the lane '{name}': interrupted before it began"]
            )
        begun = Run(name, command)
        runs.append(begun)
        if interrupted.is_set():
            begun.interrupt()
        return begun.follow()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    reports: list[Report] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for each in rounds:
            reports += pool.map(follow, each, each.values())
    _conclude(reports, time.monotonic() - began)
    return exit_code(report.code for report in reports)


def _conclude(reports: Sequence[Report], seconds: float) -> None:
    print(f" {_SUMMARY} ".center(80, "="))
    for report in reports:
        print("".join(f"{line}\n" for line in report.summary), end="")
    numbers = total(report.numbers for report in reports)
    print(f" {numbers} in {seconds:.0f}s ({len(reports)} lanes) ".center(80, "="))


def total(numbers: Iterable[str]) -> str:
    """Add up the numbers of tests by their outcome."""
    sums: Counter[str] = Counter()
    for number, outcome in _OUTCOME.findall("\n".join(numbers)):
        sums[outcome] += int(number)
    return ", ".join(f"{number} {outcome}" for outcome, number in sums.items()) or "no tests ran"


def exit_code(codes: Iterable[int]) -> int:
    """Return 0 if all is well; that a lane has no tests matters only if none has any."""
    found = set(codes)
    return max(map(abs, found - {NO_TESTS}), default=NO_TESTS)


if __name__ == "__main__":
    raise_limits()
    given = sys.argv[1:]
    sys.exit(run(commands(FIRST, given), COMPONENTS, {**CHECK, **commands(LANES, given)}))
