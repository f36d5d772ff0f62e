"""What is recorded of Faults, and the bands that a page draws for them."""

from typing import Any

import msgspec

from kwokctl.measure.pages.fault_bands import MOST_BANDS, fault_bands
from kwokctl.measure.pages.page_data import PageBand
from kwokctl.measure.record.fault_lines import FaultChange, FaultGone, FaultSeen
from kwokctl.measure.record.record_lines import Lines, RunMoment
from kwokctl.measure.watching.faults import FaultTracker
from tests.support.measured import SECOND, history


class Written:
    """A tracker, and the lines that it writes."""

    def __init__(self) -> None:
        self.lines: list[Lines] = []
        self.tracker = FaultTracker(self.lines.append)

    def see(self, time: int, *, listed: bool = False, **status: Any) -> None:
        fault = {
            "metadata": {"name": "lost", "uid": "u"},
            "spec": {"class": "xid-79", "target": {"count": 1}},
        }
        raw = msgspec.json.encode(fault | ({"status": status} if status else {}))
        self.tracker.see(self.tracker.decode(raw), raw, time, listed=listed)


def test_a_line_is_written_when_the_phase_or_the_number_of_units_changes() -> None:
    written = Written()
    written.tracker.begin()
    written.see(1)
    written.see(2, phase="Injecting", units=3, landed=1)
    written.see(3, phase="Injecting", units=3, landed=2, left="9s")
    written.see(4, phase="Landed", units=3)
    written.tracker.gone("u", 5)
    written.tracker.gone("another", 6)

    assert written.lines == [
        FaultSeen(1, 1, "lost", "xid-79", "Pending", 0, False),
        FaultChange(2, 1, "Injecting", 3),
        FaultChange(4, 1, "Landed", 3),
        FaultGone(5, 1),
    ]


def test_a_fault_of_before_the_run_is_listed() -> None:
    written = Written()
    written.see(1, phase="Landed", units=1)

    assert written.lines == [FaultSeen(1, 1, "lost", "xid-79", "Landed", 1, True)]


def bands(*lines: Lines) -> list[PageBand]:
    return fault_bands(history(lines))[0]


def test_a_band_is_from_the_start_of_a_fault_until_it_is_cleared_or_gone() -> None:
    found = bands(
        FaultSeen(SECOND, 1, "a", "xid-79", "Pending", 0, False),
        FaultChange(2 * SECOND, 1, "Injecting", 2),
        FaultChange(3 * SECOND, 1, "Landed", 2),
        FaultChange(7 * SECOND, 1, "Cleared", 2),
        FaultSeen(4 * SECOND, 2, "b", "node-down", "Landed", 1, False),
        FaultGone(5 * SECOND, 2),
        FaultSeen(6 * SECOND, 3, "c", "node-down", "Injecting", 1, False),
    )

    assert found == [
        PageBand(name="xid-79, 2 units (a)", start=2.0, end=7.0),
        PageBand(name="node-down, 1 unit (b)", start=4.0, end=5.0),
        PageBand(name="node-down, 1 unit (c)", start=6.0, end=None),
    ]


def test_faults_that_never_began_or_were_over_before_have_no_band() -> None:
    begin = RunMoment(10 * SECOND, "begin")

    assert bands(
        FaultSeen(SECOND, 1, "refused", "x", "Refused", 0, False),
        FaultSeen(SECOND, 2, "cleared", "x", "Cleared", 1, True),
        FaultSeen(SECOND, 3, "over", "x", "Landed", 1, False),
        FaultGone(2 * SECOND, 3),
        begin,
    ) == []  # fmt: skip


def test_a_fault_of_before_the_run_has_a_band_from_its_beginning() -> None:
    begin = RunMoment(10 * SECOND, "begin")
    found = bands(FaultSeen(SECOND, 1, "old", "x", "Landed", 1, True), begin)

    assert found == [PageBand(name="x, 1 unit (old)", start=0.0, end=None)]


def test_it_is_said_why_faults_are_not_known_or_not_drawn() -> None:
    old, refused = history([], version=2), history([], missing={"faults": "refused"})
    many = history(
        [
            FaultSeen(SECOND, number, "a", "x", "Landed", 1, False)
            for number in range(MOST_BANDS + 3)
        ]
    )

    assert fault_bands(old) == ([], "a record of version 2 has no Faults")
    assert fault_bands(refused) == ([], "Faults are not shown: refused")
    drawn, note = fault_bands(many)
    assert (len(drawn), note) == (MOST_BANDS, "3 later Faults are not drawn")
