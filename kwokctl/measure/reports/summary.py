"""The text of a report with what a person reads on the terminal: without what did not happen, and without details. Pure."""

from collections.abc import Iterator
from shlex import quote

from kwokctl.measure.figures.values import (
    Bounds,
    Durations,
    Levels,
    Missing,
    SingleNumber,
    Value,
)
from kwokctl.measure.record.fleet_lines import ZONE
from kwokctl.measure.reports.report import FigureReport, Figures, RunReport
from kwokctl.measure.reports.text import INDENT, beginning_lines, figure_lines, group_lines
from kwokctl.replacing import replace

_OF_PLANE = ("api.", "etcd.", "scheduler.", "components.", "clients.")
"""The beginnings of the names of figures that explain others: those of the control plane."""
_OF_EACH_RUN = ("pods.", "jobs.", "gangs", "fleet.")
"""Likewise, of those that each run has: a 0 among them says only that it had none."""
_ALWAYS = frozenset(
    {"pods.created", "pods.bound", "pods.running", "api.availability", "api.mutating"}
)
"""The figures that are read of each run, even if they are 0."""
_ASKED = ("latency.", "metrics.", "phase.", "fleet.spread.")
"""The beginnings of the names of figures that an option has asked for."""
_NOT_ASKED = f"fleet.spread.{ZONE}"


def summary_of(report: RunReport) -> str:
    """Write the summary of a report; it ends with the command that shows all of it."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: RunReport) -> Iterator[str]:
    yield from beginning_lines(report)
    yield from figure_lines(_shortened(report.figures))
    for key, named in report.groups.items():
        for name, figures in named.items():
            yield from ("", f"Group {key}={name}")
            yield from group_lines(_shortened(figures))
    yield from ("", "All figures, with those of the control plane, histograms and conditions:")
    yield f"{INDENT}kwokctl measure report {quote(report.record)}"


def _shortened(figures: Figures) -> Figures:
    told: dict[str, FigureReport] = {}
    said: list[Durations] = []
    for name, each in figures.items():
        value = each.value
        # As of gangs, each of which is a Job: the same times by another name.
        is_said = isinstance(value, Durations) and value in said and not name.startswith(_ASKED)
        if _is_told(name, value) and not is_said:
            told[name] = replace(each, value=_without_parts(value))
            said += [value] if isinstance(value, Durations) else []
    return told


def is_told(name: str, *, is_zero: bool) -> bool:
    """Return whether a summary has a figure that was measured; `is_zero` says that it is 0 all the time."""
    if name in _ALWAYS or name.startswith(_ASKED):
        return True
    if name.startswith(_OF_PLANE):
        return False
    return not (is_zero and name.startswith(_OF_EACH_RUN))


def is_lack_told(name: str) -> bool:
    """Return whether a summary says why a figure could not be measured."""
    return name.startswith(_ASKED) and name != _NOT_ASKED


def _is_told(name: str, value: Value) -> bool:
    if isinstance(value, Missing):
        return is_lack_told(name)
    return is_told(name, is_zero=not _has_happened(value))


def _has_happened(value: Value) -> bool:
    if isinstance(value, SingleNumber):
        return bool(value.value)
    return not isinstance(value, Levels) or bool(value.min or value.max)


def _without_parts(value: Value) -> Value:
    """Return a value without what is added up in it, and without its histogram."""
    if isinstance(value, Durations):
        return replace(value, histogram=())
    if isinstance(value, Levels):
        return replace(value, parts={})
    return replace(value, parts={}) if isinstance(value, Bounds) else value
