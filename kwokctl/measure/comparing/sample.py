"""The runs of one side of a comparison: which records they are, and what is read from each."""

import glob
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.errors import ConfigError, NotFoundError
from kwokctl.host.paths import expanded
from kwokctl.measure.comparing.same_faults import suppressed_in
from kwokctl.measure.figures.figure import Since
from kwokctl.measure.figures.figure_catalogue import figures_of, whole_run
from kwokctl.measure.histories.history import History
from kwokctl.measure.histories.history_files import history_of
from kwokctl.measure.judging.assertions import AssertionReader, FigureNumber
from kwokctl.measure.judging.verdict import verdict
from kwokctl.measure.record.record_names import ENDINGS, runs_of

_LOAD = "load before"
_VARYING = frozenset({"cluster", _LOAD})
"""Conditions that are never the same in two runs."""


class SampleRun(msgspec.Struct, frozen=True, kw_only=True):
    """One run."""

    record: str
    wall: str
    """The time at which it began, in UTC."""
    load: float | None
    """The load of the machine before it; None if that is not known."""
    conditions: Mapping[str, str]
    numbers: Mapping[str, float | str]
    """The numbers that are compared, by their names; a text says why one could not be measured."""
    suppressed: int | None = None
    """The number of faults of schedules that were not injected; None if no schedule was played."""


class RunSample(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one side."""

    name: str
    """The side in the words of the user."""
    runs: tuple[SampleRun, ...]
    figures: tuple[FigureNumber, ...]


class SampleRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers that are read from each run."""

    figures: tuple[str, ...]
    since: Since = "due"
    allow_undrained: bool = False


def read_sample(name: str, records: Sequence[Path], wanted: SampleRequest) -> RunSample:
    """Read the runs of one side, without warm-up runs.

    Raises ConfigError, which names each record, if there are runs that cannot be relied on, or that failed;
    NotFoundError if there are only warm-up runs; UsageError for a figure that does not exist.
    """
    runs: list[SampleRun] = []
    figures: tuple[FigureNumber, ...] = ()
    faults: list[str] = []
    for path in records:
        history = history_of(path)
        if history.header.warm_up:
            continue
        if found := verdict(history, [], allow_undrained=wanted.allow_undrained).problems:
            faults.append(f"{path}: {'; '.join(found)}")
            continue
        reader = AssertionReader(figures_of(history.header))
        figures = tuple(map(reader.number, wanted.figures))
        runs.append(_run(path, history, figures, wanted.since))
    if faults:
        raise ConfigError(
            f"'{name}' has runs that cannot be compared",
            detail="\n".join(faults),
            hint="make them again, or leave them out by naming the others",
        )
    if not runs:
        raise NotFoundError(f"'{name}' has no runs but warm-up runs")
    return RunSample(name=name, runs=tuple(runs), figures=figures)


def records_of(name: str) -> list[Path]:
    """Return the records that a word names: a folder, a file, a pattern, or the record of a repeated run.

    They are in the order of their numbers. Raises NotFoundError if there is none.
    """
    path = expanded(name)
    if path.is_dir():
        found = [each for each in path.iterdir() if each.name.endswith(ENDINGS)]
    elif path.is_file():
        found = [path]
    else:
        found = runs_of(path) or _matching(path)
    if not found:
        raise NotFoundError(
            f"'{name}' names no record",
            hint="give a folder, a pattern in quotes such as 'web-*.jsonl.gz', or what was given to '--record'",
        )
    return sorted(found, key=_in_order)


def _matching(pattern: Path) -> list[Path]:
    """Return the files that a pattern matches: only the name may have `*` and the like, or a folder on the way."""
    return [Path(each) for each in glob.glob(str(pattern))]  # noqa: PTH207 - Path.glob refuses absolute patterns


def _in_order(path: Path) -> list[tuple[int, str]]:
    """Return a key with which `web-9-1` comes before `web-10-1`."""
    parts = re.split(r"([0-9]+)", path.name)
    return [(int(part) if part.isdigit() else -1, part) for part in parts]


def _run(path: Path, history: History, figures: Sequence[FigureNumber], since: Since) -> SampleRun:
    view = whole_run(history, since)
    return SampleRun(
        record=str(path),
        wall=history.header.wall,
        load=_load(history.header.conditions.get(_LOAD, "")),
        conditions=_conditions(history),
        numbers={each.text: _number(each.of(view)) for each in figures},
        suppressed=suppressed_in(history),
    )


def _load(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _number(found: float | str) -> float | str:
    return found if isinstance(found, str) else float(found)  # counts are whole numbers


def _conditions(history: History) -> Mapping[str, str]:
    header = history.header
    found = {name: text for name, text in header.conditions.items() if name not in _VARYING}
    scope = {"namespace": header.scope.namespace, "selector": header.scope.selector}
    return {
        "kwokctl": header.kwokctl,
        **found,
        **{key: text for key, text in scope.items() if text},
    }
