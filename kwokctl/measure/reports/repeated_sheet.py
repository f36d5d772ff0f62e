"""The report on repeated runs, as tables and lists. Pure."""

from collections.abc import Collection, Iterator, Sequence

from kwokctl.measure.figures.figure_catalogue import PARTS, STATISTICS
from kwokctl.measure.reports.repeated import (
    RepeatedJudgement,
    RepeatedNumber,
    RepeatedReport,
    RunOutcome,
)
from kwokctl.measure.reports.report_tables import Table
from kwokctl.measure.reports.sheets import Sheet
from kwokctl.measure.reports.summary import is_lack_told, is_told
from kwokctl.measure.reports.words import number, seconds

_STATISTICS = frozenset(word for words in STATISTICS.values() for word in words)
_SHOWN = frozenset({"p50", "p99", "peak", "sustained"})
"""The statistics that a table shows; the others are in JSON and CSV."""
_OF_LEVELS = frozenset({"mean", "max"})
"""Likewise, of figures that have no percentiles."""
_NO_RANGE = "-"


def sheet_of(report: RepeatedReport, *, is_summary: bool = False) -> Sheet:
    """Return the report on repeated runs, or what a person reads of it on the terminal."""
    names = frozenset(each.name for each in report.numbers)
    numbers = [
        each
        for each in report.numbers
        if each.known and _is_shown(each.name, names) and (_is_told(each) or not is_summary)
    ]
    return Sheet(
        title=f"{'PASSED' if report.passed else 'FAILED'}: {len(report.runs)} runs of {report.cluster}",
        remarks=(
            *report.problems,
            *map(_assertion, report.assertions),
            *report.remarks,
        ),
        tables=tuple(table for table in (_runs(report.runs), _figures(numbers)) if table.rows),
        lists=tuple(_lists(report, is_summary=is_summary)),
        cases=tuple(_cases(report)),
        headings=("figure", "unit", "median", *map(_heading, report.runs)),
        rows=tuple((each.name, each.unit, each.median, *each.values) for each in report.numbers),
    )


def _heading(run: RunOutcome) -> str:
    return run.record.rpartition("/")[2]


def _is_shown(name: str, names: Collection[str]) -> bool:
    if _is_part(name):
        return False
    figure, _, statistic = name.rpartition(".")
    if statistic in _OF_LEVELS:
        return f"{figure}.p50" not in names
    return statistic in _SHOWN or statistic not in _STATISTICS


def _is_told(each: RepeatedNumber) -> bool:
    return is_told(_figure(each.name), is_zero=not any(each.known))


def _figure(name: str) -> str:
    figure, _, statistic = name.rpartition(".")
    return figure if statistic in _STATISTICS else name


def _is_part(name: str) -> bool:
    """Return whether a number is that of a part, such as of one component: there are many."""
    return name.partition("[")[2].partition("=")[0] in PARTS


def _runs(runs: Sequence[RunOutcome]) -> Table:
    rows = [
        (_heading(run), seconds(run.seconds), "ok" if run.verdict.passed else "FAILED", "")
        for run in runs
    ]
    return Table(title="Runs", headings=("run", "took", "verdict", ""), rows=tuple(rows))


def _figures(numbers: Sequence[RepeatedNumber]) -> Table:
    rows = [
        (
            each.name,
            _NO_RANGE if each.median is None else number(each.median, each.unit),
            number(min(each.known), each.unit),
            number(max(each.known), each.unit),
            _beside(each),
        )
        for each in numbers
    ]
    headings = ("figure", "median", "least", "most", "range")
    return Table(title="Figures", headings=headings, rows=tuple(rows))


def _beside(each: RepeatedNumber) -> str:
    """Say how far the runs are apart, as a part of the median, or that some lack the figure."""
    if each.median is None:
        return f"in {len(each.known)} of {len(each.values)} runs"
    if not each.median:
        return ""
    spread = (max(each.known) - min(each.known)) / abs(each.median)
    return f"{spread:.0%}" if spread else ""


def _assertion(judged: RepeatedJudgement) -> str:
    mark = "ok    " if judged.passed else "FAILED"
    found = judged.number
    if found.median is None:
        return f"{mark} {judged.assertion}: not measured in each run: {found.why}"
    values = ", ".join(number(each, found.unit) for each in found.known)
    return f"{mark} {judged.assertion}: median {number(found.median, found.unit)} of {values}"


def _lists(report: RepeatedReport, *, is_summary: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    reasons: dict[str, list[str]] = {}
    for each in report.numbers:
        if not each.known and (is_lack_told(_figure(each.name)) or not is_summary):
            reasons.setdefault(each.why or "there were no such pods", []).append(each.name)
    if reasons:
        yield "Not measured", tuple(f"{why}: {', '.join(names)}" for why, names in reasons.items())
    remarks: dict[str, list[str]] = {}
    for run in report.runs:
        for remark in run.verdict.remarks:
            remarks.setdefault(remark, []).append(_heading(run))
    if remarks:
        yield "Remarks", tuple(_of_runs(names, report, what) for what, names in remarks.items())
    yield "Records", tuple(run.record for run in report.runs)
    if is_summary:
        yield (
            "All figures",
            (
                "of a run: kwokctl measure report RECORD",
                "of all runs: the files of '--report', or '-o text'",
            ),
        )


def _of_runs(names: list[str], report: RepeatedReport, remark: str) -> str:
    """Say which runs a remark is about."""
    is_of_all = len(names) == len(report.runs) > 1
    return f"{'all runs' if is_of_all else ', '.join(names)}: {remark}"


def _cases(report: RepeatedReport) -> Iterator[tuple[str, str]]:
    own = [each for each in report.problems if not each.endswith("assertions failed")]
    yield "all runs are valid and came to their end", "; ".join(own)
    for each in report.assertions:
        yield each.assertion, "" if each.passed else _assertion(each)
