"""The status of a Fault, counted from its units. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kwokctl.expr.duration import format_seconds
from kwokctl.faults.objects.fault_schema import (
    FAILED_IN_STATUS,
    FailedUnit,
    FaultStatus,
)
from kwokctl.faults.objects.row_pages import IN_STATUS
from kwokctl.faults.objects.status_conditions import condition, with_condition
from kwokctl.faults.objects.unit_rows import UnitRow, row_text
from kwokctl.replacing import replace

_BYTES_OF_FAILED, _BYTES_OF_KEYS = 2_500, 36


def reported(
    status: FaultStatus,
    pages: Mapping[int, Sequence[UnitRow]],
    *,
    at: str,
    left: float | None,
) -> FaultStatus:
    """Return the status of an open fault with these rows, by page; `at` is the time of day, `left` in seconds."""
    rows = [row for _, some in sorted(pages.items()) for row in some]
    repaired = [row for row in rows if row.ended is not None]
    open_rows = [row for row in rows if row.ended is None]
    landed = [row for row in open_rows if row.landed is not None and not row.problem]
    failed = [row for row in open_rows if row.problem]
    is_all = len(landed) + len(failed) == len(open_rows)
    words = f"{len(landed)} of {len(rows)} units show it"
    if repaired:
        words += f", {len(repaired)} are repaired"
    if failed:
        words += f", {len(failed)} cannot: {', '.join(sorted({row.problem for row in failed}))}"
    return replace(
        status,
        phase="Landed" if is_all else "Injecting",
        units=len(rows),
        landed=len(landed),
        failed=len(failed),
        repaired=len(repaired),
        pages=max(status.pages, max(pages, default=IN_STATUS) + 1),
        rows=tuple(row_text(row) for row in pages.get(IN_STATUS, ())),
        failed_units=tuple(_failed(failed[:FAILED_IN_STATUS])),
        first_write=status.first_write or (at if landed else ""),
        last_write=at if landed else status.last_write,
        left="" if left is None else format_seconds(round(max(left, 0.0))),
        conditions=with_condition(
            status.conditions,
            condition(
                "Landed",
                "AllUnits" if is_all and not failed else "SomeUnits",
                words,
                at,
                status=is_all and not failed,
            ),
        ),
    )


def _failed(rows: Sequence[UnitRow]) -> Iterator[FailedUnit]:
    """Yield units that cannot show a fault, as far as they fit in a status."""
    left = _BYTES_OF_FAILED
    for row in rows:
        left -= len(row.unit.node) + len(row.problem) + _BYTES_OF_KEYS
        if left < 0:
            return
        yield FailedUnit(node=row.unit.node, gpu=row.unit.gpu, reason=row.problem)


def is_repaired(rows: Iterable[UnitRow]) -> bool:
    """Return whether repairs have ended a fault on all its units, of which there are some."""
    found = [row.ended is not None and not row.asleep for row in rows]
    return bool(found) and all(found)


def cleared(status: FaultStatus, at: str, *, by_repair: bool = False) -> FaultStatus:
    """Return the status of a fault whose time is over, or which repairs have ended on all its units."""
    reason, words = "TimeIsOver", "its time is over"
    if by_repair:
        reason, words = "Repaired", "repairs have ended it on all its units"
    over = condition("Cleared", reason, words, at)
    return replace(
        status,
        phase="Cleared",
        cleared_at=at,
        left="",
        conditions=with_condition(status.conditions, over),
    )
