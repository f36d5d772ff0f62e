"""The plan of a storm, and what of it was suppressed, as rows of pages. Pure.

A row is a fault as JSON, some 150 bytes. A page has at most 500 rows and 57,000 bytes; a single fault of a large unit may be larger. Rows of
a page are in the order of the plan, and the number of a fault is its place in it, from 0.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from kwokctl.faults.objects.fault_schema import ROWS_IN_PAGE
from kwokctl.faults.storms.storm_plan import PlannedFault

_BYTES_IN_PAGE = 57_000
ROWS_OF_SUPPRESSED = 250
"""The rows of each page of suppressed faults but the last."""
Reason = Literal["Limit", "Rack", "Broken", "Gone", "Repair", "Refused"]
"""The reason why a fault was not injected: the limit of open nodes, that of a rack, an open fault on the unit, no node of it exists, all of its nodes are in
repair, or the API server does not take the Fault."""


class SuppressedFault(msgspec.Struct, frozen=True, kw_only=True):
    """A planned fault that was not injected."""

    number: int
    at: float
    """Seconds after the start, on the clock of the schedule, as planned."""
    class_name: str = msgspec.field(name="class")
    unit: str
    reason: Reason
    wall: str
    """The time of day at which it was left out."""


def plan_rows(faults: Sequence[PlannedFault]) -> list[str]:
    """Return the row of each fault."""
    encode = msgspec.json.Encoder().encode
    return [encode(each).decode() for each in faults]


def in_pages(rows: Sequence[str]) -> Iterator[list[str]]:
    """Yield the rows page by page."""
    page: list[str] = []
    size = 0
    for row in rows:
        if page and (len(page) == ROWS_IN_PAGE or size + len(row) > _BYTES_IN_PAGE):
            yield page
            page, size = [], 0
        page.append(row)
        size += len(row)
    if page:
        yield page


read_planned = msgspec.json.Decoder(PlannedFault).decode
read_suppressed = msgspec.json.Decoder(SuppressedFault).decode


def suppressed_row(fault: SuppressedFault) -> str:
    """Return the row of a fault that was not injected."""
    return msgspec.json.encode(fault).decode()


def plan_page(schedule: str, uid: str, number: int) -> str:
    """Return the name of a page of the plan of a schedule; names of pages sort as the pages do."""
    return f"{schedule[:200]}-{uid[:8]}-plan-{number:06d}"


def suppressed_pages(schedule: str, uid: str, first: int, end: int) -> Iterator[tuple[str, int]]:
    """Yield the names of the pages with some suppressed faults, each with the number of those in the pages before it."""
    for page in range(first // ROWS_OF_SUPPRESSED, -(-end // ROWS_OF_SUPPRESSED)):
        yield suppressed_page(schedule, uid, page), page * ROWS_OF_SUPPRESSED


def suppressed_page(schedule: str, uid: str, number: int) -> str:
    """Return the name of a page of the suppressed faults of a schedule."""
    return f"{schedule[:200]}-{uid[:8]}-suppressed-{number:06d}"
