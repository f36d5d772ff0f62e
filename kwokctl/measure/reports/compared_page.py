"""The page of a comparison: each figure with its interval and verdict. Pure."""

from collections.abc import Iterator

from kwokctl.measure.comparing.comparison import ComparedFigure, CompareVerdict, RunComparison
from kwokctl.measure.pages.page_data import (
    HeadlineFigure,
    IntervalRow,
    IntervalsItem,
    PageData,
    PageLevel,
    PageSection,
    PageVerdict,
    TextItem,
)
from kwokctl.measure.reports.compared_sheet import amount_of_runs
from kwokctl.measure.reports.page_tables import exact_table, table_item
from kwokctl.measure.reports.sheets import Sheet
from kwokctl.measure.reports.words import number

_LEVELS: dict[CompareVerdict, PageLevel] = {
    "better": "good",
    "worse": "bad",
    "too few runs": "warning",
    "not measured": "warning",
}
_MOST_HEADLINES = 6
_NONE = "-"


def compared_page(comparison: RunComparison, sheet: Sheet) -> PageData:
    """Return the page; `sheet` is what the other forms say of it."""
    a, b = comparison.a, comparison.b
    return PageData(
        kind="comparison",
        title=f"{b.name} against {a.name}",
        subtitle=f"B ({b.name}, {amount_of_runs(b)}) against A ({a.name}, {amount_of_runs(a)})",
        verdict=_verdict(comparison, sheet),
        headline=[*map(_headline, comparison.figures[:_MOST_HEADLINES])],
        conditions=[
            (name, f"{ours} in A, {theirs} in B")
            for name, (ours, theirs) in comparison.differences.items()
        ],
        sections=[*_sections(comparison, sheet)],
    )


def _verdict(comparison: RunComparison, sheet: Sheet) -> PageVerdict:
    verdicts = {each.verdict for each in comparison.figures}
    level: PageLevel = "neutral"
    if comparison.max_worse is not None:
        level = "good" if comparison.passed else "bad"
    elif "worse" in verdicts:
        level = "bad"
    elif "better" in verdicts:
        level = "good"
    return PageVerdict(level=level, text=sheet.title, notes=sheet.remarks)


def _headline(each: ComparedFigure) -> HeadlineFigure:
    level = _LEVELS.get(each.verdict, "neutral")
    name = f"{each.figure}: {each.verdict}"
    if each.change is not None:
        value = f"{100 * each.change:+.1f}"
        return HeadlineFigure(name=name, value=value, unit="%", level=level)
    value = " → ".join(_medians(each)) if each.a and each.b else _NONE
    return HeadlineFigure(name=name, value=value, level=level)


def _sections(comparison: RunComparison, sheet: Sheet) -> Iterator[PageSection]:
    intervals = IntervalsItem(
        id="differences",
        title="Difference of B from A",
        note="the median difference, and the interval that contains the true one in 95 % of comparisons",
        rows=[*map(_row, comparison.figures)],
    )
    lead = "; ".join(_directions(comparison))
    yield PageSection(id="section-figures", title="Figures", lead=lead, items=[intervals])
    tables = [table_item(table) for table in sheet.tables]
    numbers = exact_table(sheet.headings, sheet.rows)
    yield PageSection(id="section-numbers", title="Numbers", items=[*tables, numbers])
    texts = [
        TextItem(id=f"list-{place}", title=heading, lines=lines)
        for place, (heading, lines) in enumerate(sheet.lists)
    ]
    yield PageSection(id="section-runs", title="Runs", items=texts)


def _directions(comparison: RunComparison) -> Iterator[str]:
    for better in ("less", "more"):
        names = [each.figure for each in comparison.figures if each.better == better]
        if names:
            yield f"{better} is better: {', '.join(names)}"


def _row(each: ComparedFigure) -> IntervalRow:
    a, b = _medians(each)
    low, middle, high = (
        None if ratio is None else _percent(ratio) for ratio in (each.low, each.ratio, each.high)
    )
    return IntervalRow(
        name=each.figure,
        a=a,
        b=b,
        low=low,
        middle=middle,
        high=high,
        verdict=each.verdict,
        level=_LEVELS.get(each.verdict, "neutral"),
    )


def _medians(each: ComparedFigure) -> list[str]:
    return [_NONE if side is None else number(side.median, each.unit) for side in (each.a, each.b)]


def _percent(ratio: float) -> float:
    return 100 * (ratio - 1)
