"""The page of one run. Its figures are those of the report, which JSON has, too. Pure."""

from collections.abc import Iterator, Sequence

from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.figures.values import (
    Bounds,
    Durations,
    Levels,
    Series,
    SingleNumber,
    Value,
)
from kwokctl.measure.histories.history import History
from kwokctl.measure.pages.fault_bands import fault_bands
from kwokctl.measure.pages.fleet_map import fleet_map
from kwokctl.measure.pages.page_data import (
    AnyItem,
    HeadlineFigure,
    PageData,
    PageDownload,
    PageSection,
    PageVerdict,
)
from kwokctl.measure.pages.waterfall import waterfall_of
from kwokctl.measure.record.run_clock import SECOND
from kwokctl.measure.reports.incident_rows import incident_rows, incident_table
from kwokctl.measure.reports.judged import headline, scope_text, subject
from kwokctl.measure.reports.page_charts import (
    fleet_charts,
    latency_charts,
    plane_charts,
    rate_charts,
)
from kwokctl.measure.reports.page_tables import (
    assertion_table,
    figure_tables,
    group_tables,
    plane_tables,
)
from kwokctl.measure.reports.report import RunReport
from kwokctl.measure.reports.training_table import training_table
from kwokctl.measure.reports.words import number

_QUOTED = (
    ("pods.created_to_bound", "p50", "median until bound"),
    ("pods.created_to_bound", "p99", "p99 until bound"),
    ("rates.bound", "sustained", "bound a second, best 10 s"),
    ("jobs.jct", "p50", "median Job completion"),
    ("gangs.scheduling_latency", "p99", "p99 until gangs were bound"),
    ("pods.bound", "", "pods bound"),
    ("pods.unschedulable", "", "pods not placed at first"),
    ("api.mutating", "p99", "p99 of writes, at most"),
)
"""The figures that people quote: the name, the statistic, and the words."""
_REQUESTED = "fleet.requested."
_MOST_HEADLINES = 9


def run_page(
    report: RunReport, history: History, downloads: Sequence[PageDownload] = (), note: str = ""
) -> PageData:
    """Return the page of a run; `note` says where its pods are."""
    bands, left_out = fault_bands(history)
    title = report.conditions.get("cluster", "a cluster")
    return PageData(
        kind="run",
        title=title,
        subtitle=f"{subject(report).removeprefix(f'{title}, ')}; {scope_text(report)}",
        verdict=_verdict(report, tuple(filter(None, (left_out, note)))),
        headline=[*_headline(report)][:_MOST_HEADLINES],
        conditions=[(name, value) for name, value in report.conditions.items() if value],
        sections=[*_sections(report, history)],
        bands=bands,
        downloads=downloads,
    )


def _verdict(report: RunReport, notes: Sequence[str]) -> PageVerdict:
    verdict = report.verdict
    return PageVerdict(
        level="good" if verdict.passed else "bad",
        text=headline(report),
        notes=(*verdict.problems, *verdict.remarks, *notes),
    )


def _headline(report: RunReport) -> Iterator[HeadlineFigure]:
    """Yield the figures that were measured, first those that people quote, then the use of devices."""
    for name, statistic, words in _QUOTED:
        figure = report.figures.get(name)
        value = _number(figure.value, statistic) if figure else None
        if figure and value is not None:
            yield _large(words, value, figure.unit)
    for name, figure in report.figures.items():
        device = name.removeprefix(_REQUESTED)
        if device != name and "/" in device and isinstance(figure.value, Levels):
            yield _large(f"{device} requested, mean", figure.value.mean, figure.unit)


def _number(value: Value, statistic: str) -> float | None:
    if isinstance(value, SingleNumber):
        return value.value
    if isinstance(value, Durations | Series | Bounds):
        found: float | None = getattr(value, statistic)
        return found
    return None


def _large(words: str, value: float, unit: str) -> HeadlineFigure:
    digits, _, of_unit = number(value, unit).partition(" ")
    return HeadlineFigure(name=words, value=digits, unit=of_unit)


def _sections(report: RunReport, history: History) -> Iterator[PageSection]:
    """Yield the sections that have items."""
    view = whole_run(history, report.since)
    seconds = (history.end - history.begin) / SECOND  # also of a record whose end is missing
    asserted = assertion_table(report.assertions)
    in_order: Sequence[tuple[str, str, str, Sequence[AnyItem | None]]] = (
        ("assertions", "Assertions", "", [asserted]),
        ("jobs", "Jobs, gangs and pods", "When each was queued, started, ran and was done.", [waterfall_of(view), training_table(view)]),
        ("rates", "Rates and queues", "", [*rate_charts(report, seconds)]),
        ("fleet", "Fleet", "", [fleet_map(history, seconds), *fleet_charts(report)]),
        ("incidents", "Faults and reactions", "What was done about each fault, and when.",
         [incident_table(incident_rows(view.scorecard))]),
        ("latencies", "Latencies", "", [*latency_charts(report)]),
        ("plane", "Control plane", "", [*plane_charts(report), *plane_tables(report)]),
        ("groups", "Groups", "", [*group_tables(report.groups)]),
        ("figures", "All figures", "", [*figure_tables(report)]),
    )  # fmt: skip
    for name, title, lead, items in in_order:
        shown = [item for item in items if item is not None]
        if shown:
            yield PageSection(id=f"section-{name}", title=title, lead=lead, items=shown)
