"""What was measured of this kwokctl and of another one in one run, and the table of it in the README."""

import statistics
from collections.abc import Iterator
from pathlib import Path

import msgspec

from benchmarks.report import shown
from benchmarks.results import Machine

FILE = Path(__file__).parents[1] / "docs" / "explanation" / "comparison.json"

_ALONE = 2.5
"""The load for each core that the programs measured have by themselves, at most."""
_NOT_ALONE = (
    "Much other work ran on the machine (a load of up to {load:.0f}), so the times that both took are not "
    "shown, and each takes more CPU than alone."
)


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one of the two took in each round."""

    values: tuple[float, ...]
    cpu: tuple[float, ...] = ()
    """Seconds of CPU of all its processes; empty if the value is CPU itself."""
    note: str = ""
    """What must be known to read the figure."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table."""

    what: str
    unit: str
    other: Side
    ours: Side


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """All rows of one run."""

    machine: Machine
    versions: dict[str, str]
    """By program."""
    date: str
    rounds: int
    load: float
    """The highest of the machine meanwhile, in the mean of a minute."""
    works: tuple[Work, ...]


def read() -> Comparison:
    """Read what was measured last."""
    return msgspec.json.decode(FILE.read_bytes(), type=Comparison)


def write(comparison: Comparison) -> None:
    """Keep what was measured."""
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(comparison), indent=1) + b"\n")


def table(comparison: Comparison) -> str:
    """Return the table, and where and when it was measured."""
    return "\n".join(_lines(comparison))


def _lines(comparison: Comparison) -> Iterator[str]:
    machine = comparison.machine
    is_alone = comparison.load <= _ALONE * machine.cores
    yield "| work | in Go | this kwokctl | ratio of CPU |"
    yield "|---|---|---|---|"
    for work in comparison.works:
        other, ours = (
            _cell(side, work.unit, is_alone=is_alone) for side in (work.other, work.ours)
        )
        ratio = shown(_cpu(work.ours) / _cpu(work.other))
        yield f"| {work.what} | {other} | {ours} | {ratio} |"
    rounds = (
        f"{comparison.rounds} rounds in turn, medians" if comparison.rounds > 1 else "One round"
    )
    versions = ", ".join(f"{name} {version}" for name, version in comparison.versions.items())
    yield ""
    yield (
        f"{rounds}, on {comparison.date}: {machine.cores} cores ({machine.processor}), {versions}. "
        f"CPU is that of all processes. {'' if is_alone else _NOT_ALONE.format(load=comparison.load)}"
    ).rstrip()


def _cell(side: Side, unit: str, *, is_alone: bool) -> str:
    value = shown(statistics.median(side.values), unit)
    if side.cpu:
        cpu = shown(statistics.median(side.cpu), "s")
        return f"{value}, CPU {cpu}" if is_alone else f"CPU {cpu}"
    return f"{value} ({side.note})" if side.note else value


def _cpu(side: Side) -> float:
    return statistics.median(side.cpu or side.values)
