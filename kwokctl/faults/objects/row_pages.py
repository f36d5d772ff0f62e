"""Places the rows of a fault: in its status if they are few, else in pages, none of which is too large. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from kwokctl.faults.objects.fault_schema import ROWS_IN_PAGE, ROWS_IN_STATUS
from kwokctl.faults.objects.unit_rows import UnitRow, row_text

IN_STATUS = -1
"""The number of the page that stands for the rows in a status."""
_BYTES_IN_STATUS, _BYTES_IN_PAGE = 3_500, 57_000
"""So many bytes the rows have together at most; then a status is below 8 KiB, and a page below 64 KiB."""
_GROWTH = 40
"""Bytes that a row grows by: for when it landed and how late it was, or for its problem, and the quotes around it."""

Placed = dict[int, list[UnitRow]]
"""Rows by the number of their page."""


def paged(rows: Sequence[UnitRow]) -> Placed:
    """Return the places of the rows of a new fault: all in its status, or none."""
    found = placed({}, rows)
    return found if max(found, default=IN_STATUS) == IN_STATUS else placed({0: ()}, rows)


def placed(rows: Mapping[int, Sequence[UnitRow]], added: Iterable[UnitRow]) -> Placed:
    """Return the places of the rows of a fault with further ones, which come after all others."""
    found = {number: [*some] for number, some in rows.items()}
    last = max(found, default=IN_STATUS)
    size = sum(map(_size, found.get(last, ())))
    for row in added:
        if not _has_room(last, len(found.get(last, ())), size + _size(row)):
            last, size = last + 1, 0
        found.setdefault(last, []).append(row)
        size += _size(row)
    return found


def _has_room(number: int, rows: int, size: int) -> bool:
    """Return whether a page with a number of rows takes another, after which all have `size` bytes."""
    if number == IN_STATUS:
        return rows < ROWS_IN_STATUS and size <= _BYTES_IN_STATUS
    return rows == 0 or (rows < ROWS_IN_PAGE and size <= _BYTES_IN_PAGE)


def _size(row: UnitRow) -> int:
    return len(row_text(row)) + _GROWTH
