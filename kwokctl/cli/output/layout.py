"""Lays a step under way out in lines that fit a terminal: the bar gives way before the numbers."""

from dataclasses import dataclass

from kwokctl.cli.output.rows import Row, safe

_BARS = (24, 16, 8)
"""Cells of a bar, where there is room; in few sizes, so that it does not jump about."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The lines of a step, without the mark and the blanks in front of each."""

    title: str
    bar: int
    """Cells of the bar behind the title, 0 for none."""
    numbers: str
    """What stands behind the bar."""
    more: tuple[str, ...] = ()
    """Further lines."""


def laid_out(row: Row, now: float, width: int) -> Layout:
    """Lay a step out in lines of at most `width` characters; titles that are longer stay so."""
    title, parts, what = safe(row.title), row.numbers(now), row.what
    if row.total is not None and f" {row.unit}" in title:
        parts[0] = parts[0].rpartition(" ")[0]  # the title says of what
    room = width - len(title) - 1
    whole = ", ".join([*parts, what] if what else parts)
    bar = _bar(row, room - len(whole) - 1)
    if bar or (row.share is None and len(whole) <= room):
        return Layout(title, bar, whole)
    numbers = ", ".join(parts)
    more = (what,) if what else ()
    if len(numbers) <= room:
        return Layout(title, _bar(row, room - len(numbers) - 1), numbers, more)
    return Layout(title, 0, "", (_as_many_as_fit(parts, width), *more))


def _bar(row: Row, room: int) -> int:
    if row.share is None:
        return 0
    return next((cells for cells in _BARS if cells <= room), 0)


def _as_many_as_fit(parts: list[str], width: int) -> str:
    while len(parts) > 1 and len(", ".join(parts)) > width:
        parts = parts[:-1]
    return ", ".join(parts)
