"""Prints what was measured: a figure a line, with the goal beside it where there is one."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. A goal is an upper bound unless `at_least` is set."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False


def report(title: str, rows: Sequence[Row]) -> None:
    """Print one table."""
    width = max(len(row.what) for row in rows)
    print(f"\n{title}")
    for row in rows:
        print(f"  {row.what:<{width}}  {row.value:>10.3f} {row.unit:<8} {_goal(row)}".rstrip())


def shown(value: float, unit: str = "") -> str:
    """Write a number with three digits that mean something, and its unit."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    text = f"{value:,.{digits}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{text} {unit}".rstrip()


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    share = row.value / row.goal
    word = "at least" if row.at_least else "at most"
    return f"{share:5.2f} of the goal ({word} {row.goal:g} {row.unit})"
