"""Figures of other kinds: the latencies that were asked for with `--latency`."""

from collections.abc import Iterable, Sequence
from functools import partial

from kwokctl.measure.figures.figure import Figure, RunView
from kwokctl.measure.figures.values import Missing, Value, distribution
from kwokctl.measure.histories.history import Gaps
from kwokctl.measure.record.record_lines import Milestone

PREFIX = "latency."
_NO_GAPS = Gaps()


def figures_named(texts: Iterable[str]) -> Sequence[Figure]:
    """Return a figure for each latency, in their order: `NAME=KIND,FROM,TO`."""
    return tuple(
        Figure(
            name=PREFIX + text.partition("=")[0],
            unit="s",
            title=text.partition("=")[2].replace(",", ": from ", 1).replace(",", " to ", 1),
            compute=partial(_latency, number),
            form="distribution",
        )
        for number, text in enumerate(texts)
    )


def _latency(number: int, view: RunView) -> Value:
    history = view.history
    name = history.header.latencies[number].partition("=")[0]
    if why := history.header.missing.get(PREFIX + name):
        return Missing(why)
    gaps = history.gaps.get(PREFIX + name, _NO_GAPS)
    begun: dict[str, Milestone] = {}
    durations: list[int] = []
    left_out = 0
    for line in history.milestones:
        if line.latency != number:
            continue
        if not line.is_end:
            begun[line.uid] = line
            continue
        start = begun.pop(line.uid, None)
        if start is None or _is_lost(start, gaps) or _is_lost(line, gaps):
            left_out += 1
        else:
            durations.append(line.time - start.time)
    what = "no object came so far"
    return distribution(durations, left_out=left_out, still_open=len(begun), what=what)


def _is_lost(line: Milestone, gaps: Gaps) -> bool:
    return not line.known or gaps.hold(line.time)
