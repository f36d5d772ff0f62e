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


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    share = row.value / row.goal
    word = "at least" if row.at_least else "at most"
    return f"{share:5.2f} of the goal ({word} {row.goal:g} {row.unit})"
