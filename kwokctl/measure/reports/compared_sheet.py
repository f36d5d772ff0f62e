"""A comparison as tables and lists. Pure."""

from collections.abc import Iterator

from kwokctl.measure.comparing.comparison import ComparedFigure, ComparedSide, RunComparison, Side
from kwokctl.measure.reports.report_tables import Table
from kwokctl.measure.reports.sheets import Sheet
from kwokctl.measure.reports.words import number

_NONE = "-"


def sheet_of(comparison: RunComparison) -> Sheet:
    """Return a comparison."""
    return Sheet(
        title=f"{_headline(comparison)}: B ({comparison.b.name}) against A ({comparison.a.name})",
        remarks=tuple(_remarks(comparison)),
        tables=(_table(comparison),),
        lists=tuple(_lists(comparison)),
        cases=tuple(_cases(comparison)),
        headings=("figure", "unit", "better", "a", "b", "ratio", "low", "high", "smallest", "verdict", "passed"),
        rows=tuple(map(_row, comparison.figures)),
    )  # fmt: skip


def _headline(comparison: RunComparison) -> str:
    if comparison.max_worse is None:
        return "COMPARED"
    return "PASSED" if comparison.passed else "FAILED"


def _remarks(comparison: RunComparison) -> Iterator[str]:
    limit = comparison.max_worse
    for each in comparison.figures:
        if not each.passed:
            yield f"FAILED {each.figure}: {_failure(each, limit or 0)}"
    yield f"{amount_of_runs(comparison.a)} of A, {len(comparison.b.records)} of B"
    yield from comparison.remarks
    if limit is not None:
        yield f"fails if the interval lies beyond {limit:.1%} worse"
        for each in comparison.figures:
            if each.smallest is not None and each.smallest > limit:
                yield (
                    f"{each.figure}: these runs could not show a difference of less than {each.smallest:.0%}; "
                    "more or longer runs can"
                )
    if comparison.false_alarms is not None:
        number_of_figures = len(comparison.figures)
        which = f"one of these {number_of_figures} figures" if number_of_figures > 1 else "it"
        yield (
            f"if A and B were equal, {which} would be called worse in at most "
            f"{comparison.false_alarms:.1%} of comparisons"
        )


def amount_of_runs(side: ComparedSide) -> str:
    """Return how many runs a side has, in words."""
    number_of_runs = len(side.records)
    return "1 run" if number_of_runs == 1 else f"{number_of_runs} runs"


def _failure(each: ComparedFigure, limit: float) -> str:
    if each.verdict == "not measured":
        return f"not measured: {each.why}"
    if each.verdict == "too few runs":
        return "too few runs: at least 4 of each are needed"
    return f"{_interval(each)} times A, beyond {limit:.1%} worse"


def _table(comparison: RunComparison) -> Table:
    rows = [
        (
            each.figure,
            _median(each.a, each.unit),
            _median(each.b, each.unit),
            _NONE if each.change is None else f"{each.ratio:.3f}",
            _interval(each),
            f"{each.verdict}{_smallest(each)}",
        )
        for each in comparison.figures
    ]
    headings = ("figure", "A", "B", "B / A", "95 % interval", "")
    return Table(title="Figures", headings=headings, rows=tuple(rows))


def _median(side: Side | None, unit: str) -> str:
    return _NONE if side is None else number(side.median, unit)


def _interval(each: ComparedFigure) -> str:
    if each.change is None:
        return _NONE
    return f"{each.low:.3f} to {each.high:.3f}"


def _smallest(each: ComparedFigure) -> str:
    return "" if each.smallest is None else f" (could show {each.smallest:.0%})"


def _lists(comparison: RunComparison) -> Iterator[tuple[str, tuple[str, ...]]]:
    if comparison.differences:
        texts = (f"{name}: {a} in A, {b} in B" for name, (a, b) in comparison.differences.items())
        yield "Conditions that differ", tuple(texts)
    if missing := [each for each in comparison.figures if each.why]:
        yield "Not measured", tuple(f"{each.figure}: {each.why}" for each in missing)
    yield "Runs", (*_runs("A", comparison.a, comparison), *_runs("B", comparison.b, comparison))


def _runs(side: str, runs: ComparedSide, comparison: RunComparison) -> Iterator[str]:
    """Yield the records, and the values of each figure in their order."""
    yield f"{side}: {', '.join(runs.records)}"
    for each in comparison.figures:
        values = each.a if side == "A" else each.b
        if values is not None:
            shown = ", ".join(number(value, each.unit) for value in values.values)
            yield f"{side} {each.figure}: {shown}"


def _cases(comparison: RunComparison) -> Iterator[tuple[str, str]]:
    limit = comparison.max_worse
    for each in comparison.figures:
        wanted = each.verdict if limit is None else f"at most {limit:.1%} worse"
        yield f"{each.figure}: {wanted}", "" if each.passed else _failure(each, limit or 0)


def _row(each: ComparedFigure) -> tuple[object, ...]:
    medians = (None if side is None else side.median for side in (each.a, each.b))
    return (
        each.figure, each.unit, each.better, *medians, each.ratio, each.low, each.high, each.smallest,
        each.verdict, each.passed,
    )  # fmt: skip
