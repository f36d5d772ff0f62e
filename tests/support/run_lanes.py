"""Runs the lanes of a command: `python -m tests.support.run_lanes test|test-engines`, with words for pytest."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil

from tests.support import debian, engines, store
from tests.support.kernel import raise_limits
from tests.support.lanes import (
    BROWSER,
    CHECK,
    COMPONENTS,
    FIRST,
    IN_ENGINES,
    SHELLS,
    WITH_COMPONENTS,
    WITHOUT_COMPONENTS,
    Lanes,
    commands,
)
from tests.support.side_by_side import run

TEST, TEST_ENGINES = "test", "test-engines"

_SECONDS = {TEST: 3_000, TEST_ENGINES: 2_000}
"""Seconds of processors that the tests of a command take: with two of them, half of it is computed, and half is waited."""
_BUILD = 1_700
"""Processor time that building the components takes."""
_AT_LEAST = 20
"""Minutes for which tests wait, however many processors there are."""


@dataclass(frozen=True, slots=True)
class Order:
    """What runs when."""

    rounds: Sequence[Lanes]
    beside: Lanes
    absent: Mapping[str, str] = field(default_factory=dict)
    """Why a lane does not run."""


def of_tests(words: Sequence[str]) -> Order:
    """Return the order of everything that needs no container engine."""
    return Order(
        rounds=[commands(FIRST, words), COMPONENTS, commands(WITH_COMPONENTS, words)],
        beside={**CHECK, **commands(WITHOUT_COMPONENTS, words)},
    )


def of_engines(
    words: Sequence[str], absent: Mapping[str, str], installed: Collection[str]
) -> Order:
    """Return the order of what needs an engine, without the lanes that are absent, and of what needs a browser.

    Tests of shells that have just been installed were skipped by `make test`.
    """
    lanes = {name: own for name, own in IN_ENGINES.items() if name not in absent}
    shells = SHELLS if {*installed} & {*debian.SHELLS} else {}
    rounds = [COMPONENTS, commands(lanes, words)] if lanes else []
    return Order(rounds, commands({**BROWSER, **shells}, words), absent)


def announcement(command: str, order: Order, lacking: Sequence[str], processors: int) -> str:
    """Say what will run, and for how long; `lacking` are the components that the store does not have."""
    names = [*order.beside, *(name for each in order.rounds for name in each)]
    seconds = _SECONDS[command] + (_BUILD if lacking else 0)
    minutes = max(_AT_LEAST, ceil(seconds / processors / 60))
    lines = [f"the lanes are: {', '.join(names)}"]
    if lacking:
        first = f"the lanes that need none begin at once: {', '.join(order.beside) or 'none'}"
        lines += [
            f"your store lacks {', '.join(lacking)}",
            f"these are downloaded, or built from their Go modules; {first}",
        ]
    lines += [f"everything takes about {minutes} minutes with {processors} processors"]
    return "\n".join(f"{command}: {line}" for line in lines)


def _order(command: str, words: Sequence[str]) -> Order:
    if command == TEST:
        return of_tests(words)
    installed = debian.provide()
    return of_engines(words, _absent(), installed)


def _absent() -> Mapping[str, str]:
    """Return the lanes whose engine is not available, with the reason."""
    docker = "" if engines.answering() else _obstacle(debian.DOCKER)
    podman = _obstacle(debian.PODMAN)
    why = {name: podman if name == "podman" else docker for name in IN_ENGINES}
    return {name: reason for name, reason in why.items() if reason}


def _obstacle(programs: Mapping[str, str]) -> str:
    """Return why an engine of these programs cannot be started; empty if it can."""
    try:
        engines.require(programs)
    except engines.NoEngineError as e:
        return str(e)
    return ""


def main(command: str, *words: str) -> int:
    """Run the lanes of a command, and return the exit code."""
    raise_limits()
    order = _order(command, words)
    if order.rounds:
        processors = len(os.sched_getaffinity(0))
        print(announcement(command, order, store.lacking(), processors), flush=True)
    return run(*order.rounds, beside=order.beside, absent=order.absent)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
