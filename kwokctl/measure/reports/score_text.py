"""A scorecard as text."""

from collections.abc import Iterator

from kwokctl.measure.reports.incident_rows import HEADINGS, cells_of
from kwokctl.measure.reports.report_tables import Table
from kwokctl.measure.reports.score import ScoreReport
from kwokctl.measure.reports.text import figure_lines, group_lines, table_lines, wrapped
from kwokctl.measure.reports.words import seconds


def score_text(report: ScoreReport, *, is_wide: bool) -> str:
    """Write a scorecard; a wide one has a line for each incident."""
    return "\n".join(_lines(report, is_wide=is_wide)) + "\n"


def _lines(report: ScoreReport, *, is_wide: bool) -> Iterator[str]:
    count = len(report.incidents)
    word = "incident" if count == 1 else "incidents"
    yield from wrapped(f"{count:,} {word} in {seconds(report.seconds)}: {report.record}")
    for each in report.remarks:
        yield from wrapped(each, "  ")
    yield from figure_lines(report.figures)
    for key, named in report.groups.items():
        for name, figures in named.items():
            yield from ("", f"Group {key}={name}")
            yield from group_lines(figures)
    if is_wide and report.incidents:
        rows = tuple((*cells_of(each), "") for each in report.incidents)
        yield ""
        yield from table_lines(Table(title="Incidents", headings=(*HEADINGS, ""), rows=rows))
