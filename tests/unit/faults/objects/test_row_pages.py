"""Where the rows of faults are stored, and how large that becomes."""

import msgspec
import pytest

from kwokctl.faults.objects.fault_schema import FaultPageSpec, FaultStatus
from kwokctl.faults.objects.fault_status import reported
from kwokctl.faults.objects.row_pages import IN_STATUS, paged, placed
from kwokctl.faults.objects.unit_rows import FaultUnit, UnitRow, row_text
from kwokctl.replacing import replace

UID = "01234567-89ab-cdef-0123-456789abcdef"


def rows(number: int, *, prefix: str = "dgx-h100", pod: str = "") -> list[UnitRow]:
    return [
        UnitRow(
            unit=FaultUnit(
                node=f"{prefix}-{each:06}", node_uid=UID, gpu=7, pod=pod, pod_uid=UID if pod else ""
            )
        )
        for each in range(number)
    ]


def ended(found: list[UnitRow]) -> list[UnitRow]:
    """Return rows as large as they become."""
    return [replace(row, landed=98765.432, problem="Unauthorized") for row in found]


@pytest.mark.parametrize(
    ("number", "pages"),
    [(0, []), (1, [IN_STATUS]), (20, [IN_STATUS]), (21, [0]), (500, [0]), (501, [0, 1])],
)
def test_few_are_in_the_status_and_more_in_pages(number: int, pages: list[int]) -> None:
    assert [*paged(rows(number))] == pages


@pytest.mark.parametrize(
    ("prefix", "pod"), [("dgx-h100", ""), ("n" * 240, ""), ("n" * 240, "m" * 60 + "/" + "p" * 250)]
)
@pytest.mark.parametrize("number", [20, 20_000])
def test_no_object_is_too_large_and_no_row_is_lost(number: int, prefix: str, pod: str) -> None:
    given = rows(number, prefix=prefix, pod=pod)
    found = paged(given)
    assert [row for _, some in sorted(found.items()) for row in some] == given
    for page, some in found.items():
        if page != IN_STATUS:
            texts = tuple(row_text(row) for row in ended(some))
            assert (
                len(msgspec.json.encode(FaultPageSpec(fault=UID, number=page, rows=texts))) < 63_000
            )
    failed = {
        page: [replace(row, problem="Unauthorized") for row in some] for page, some in found.items()
    }
    status = reported(FaultStatus(), failed, at="2026-01-01T12:00:00.000000000Z", left=1.0)
    assert (status.units, status.failed) == (number, number)
    assert status.failed_units
    assert len(msgspec.json.encode(status)) < 8_000


def test_those_that_come_later_fill_the_status_and_then_pages() -> None:
    given = rows(1300)
    found = paged([])
    for start in range(0, len(given), 100):
        found = placed(found, given[start : start + 100])
    assert {page: len(some) for page, some in found.items()} == {
        IN_STATUS: 20,
        0: 500,
        1: 500,
        2: 280,
    }
    assert [row for _, some in sorted(found.items()) for row in some] == given
    status = reported(FaultStatus(), found, at="2026-01-01T12:00:00Z", left=None)
    assert (status.pages, len(status.rows), status.units) == (3, 20, 1300)


def test_what_is_placed_stays_where_it_is() -> None:
    found = paged(rows(600))
    more = placed(found, rows(1, prefix="later"))
    assert more[0] == found[0]
    assert more[1] == [*found[1], *rows(1, prefix="later")]
