"""The charts of a report on one run: which figures are drawn together. Pure."""

from collections.abc import Iterator
from typing import TypeVar

from kwokctl.measure.figures.values import Durations, Levels, Series
from kwokctl.measure.pages.charts import distribution_item, levels_item, rates_item
from kwokctl.measure.pages.grid import whole_seconds
from kwokctl.measure.pages.page_data import BarsItem, LinesItem
from kwokctl.measure.reports.report import Figures, RunReport
from kwokctl.replacing import replace

V = TypeVar("V", Series, Levels, Durations)
_RATES, _REQUESTED, _FLEET = "rates.", "fleet.requested.", "fleet."
_NODES = ("fleet.nodes", "fleet.not_ready", "fleet.cordoned", "fleet.tainted")
_ETCD = ("etcd.size", "etcd.in_use")
_OF_DEVICES = (
    ("fleet.fragmentation.", "fragmentation", "Free devices that pods could not use", "%"),
    ("fleet.largest_gang.", "largest-gang", "Pods of the largest size that would have fitted", ""),
)


def rate_charts(report: RunReport, seconds: float) -> Iterator[LinesItem]:
    """Yield rates over a run of that many seconds, and the queues of pods."""
    figures = report.figures
    rates = _chosen(figures, Series, _RATES)
    grid = whole_seconds(seconds)
    shown = {name.removeprefix(_RATES): each for name, each in rates.items()}
    yield from _some(rates_item("rates", "Pods a second", shown, grid))
    waiting = _chosen(figures, Levels, "pods.waiting")
    yield from _some(levels_item("queue", "Pods that wait for a node", "", waiting))
    yield from _parts(figures, "scheduler.pending", "Queues of the scheduler")


def latency_charts(report: RunReport) -> Iterator[BarsItem]:
    """Yield the distribution of each latency and size; figures that are equal, as of Jobs that are the gangs, share one."""
    names: dict[Durations, list[str]] = {}
    for name, value in _chosen(report.figures, Durations).items():
        names.setdefault(value, []).append(name)
    for value, equal in names.items():
        figure = report.figures[equal[0]]
        item = distribution_item(equal[0], figure.title, figure.unit, value)
        yield replace(item, note=", ".join(equal))


def fleet_charts(report: RunReport) -> Iterator[LinesItem]:
    """Yield how much of each resource was requested, what was left, and the states of nodes."""
    figures = report.figures
    requested = _chosen(figures, Levels, _REQUESTED)
    shown = {name.removeprefix(_REQUESTED): each for name, each in requested.items()}
    yield from _some(levels_item("utilisation", "Requested by pods", "%", shown))
    for prefix, name, title, unit in _OF_DEVICES:
        found = _chosen(figures, Levels, prefix)
        devices = {each.removeprefix(prefix): value for each, value in found.items()}
        yield from _some(levels_item(name, title, unit, devices))
    nodes = _chosen(figures, Levels, *_NODES)
    by_state = {name.removeprefix(_FLEET).replace("_", " "): each for name, each in nodes.items()}
    yield from _some(levels_item("nodes", "Nodes", "", by_state))


def plane_charts(report: RunReport) -> Iterator[LinesItem]:
    """Yield processors and memory of components, and the size of etcd."""
    figures = report.figures
    yield from _parts(figures, "components.cpu", "Processors that components took")
    yield from _parts(figures, "components.memory", "Memory of components")
    sizes = _chosen(figures, Levels, *_ETCD)
    by_name = {name.partition(".")[2].replace("_", " "): each for name, each in sizes.items()}
    yield from _some(levels_item("etcd-size", "Size of etcd", "B", by_name))


def _parts(figures: Figures, name: str, title: str) -> Iterator[LinesItem]:
    """Yield a chart of a level with what is added up in it."""
    figure = figures.get(name)
    if figure and isinstance(figure.value, Levels):
        parts = figure.value.parts or {name: figure.value}
        is_sum = bool(figure.value.parts)
        yield from _some(levels_item(name, title, figure.unit, parts, stacked=is_sum))


def _chosen(figures: Figures, form: type[V], *beginnings: str) -> dict[str, V]:
    """Return the values of one form of the figures whose names begin so."""
    return {
        name: each.value
        for name, each in figures.items()
        if isinstance(each.value, form) and name.startswith(beginnings or "")
    }


def _some(item: LinesItem | None) -> Iterator[LinesItem]:
    if item is not None:
        yield item
