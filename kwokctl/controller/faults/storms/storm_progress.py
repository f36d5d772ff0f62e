"""The progress of a schedule: what was made, and what was suppressed and why."""

from collections import Counter
from collections.abc import Sequence

from kwokctl.controller.faults.storms.storm_objects import StormObjects
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.objects.unit_rows import LATE
from kwokctl.faults.storms.plan_pages import (
    ROWS_OF_SUPPRESSED,
    SuppressedFault,
    read_suppressed,
    suppressed_page,
    suppressed_row,
)
from kwokctl.faults.storms.stored_schedule import ScheduleStatus
from kwokctl.replacing import replace


class StormProgress:
    """All that this controller has decided of a schedule; the cluster learns it at most once a second."""

    def __init__(self, status: ScheduleStatus, rows: Sequence[str]) -> None:
        """Begin where the cluster is; `rows` are those of the last page of suppressed faults.

        A page is stored before the status that counts it. So some of its rows may be about faults that the status does not count yet: they stay
        suppressed.
        """
        self.next = status.next
        self._injected = status.injected
        self._by = Counter(status.suppressed_by)
        self._late, self._latest = status.late, status.latest
        self._page = status.suppressed // ROWS_OF_SUPPRESSED
        self._rows = [*rows]
        found = map(read_suppressed, rows)
        self._decided = {each.number: each for each in found if each.number >= status.next}
        self._is_page_new = False
        self.is_new = False
        """Whether the cluster does not know all of it."""

    def decided(self, number: int) -> SuppressedFault | None:
        """Return what was decided, and stored, of a fault before a controller was killed."""
        return self._decided.get(number)

    def inject(self, late: float) -> None:
        """Count the next fault as made, with the seconds after its time."""
        self._injected += 1
        self._late += late >= LATE
        self._latest = max(self._latest, round(late, 3) if late >= LATE else 0.0)
        self._count()

    def suppress(self, fault: SuppressedFault) -> None:
        """Count the next fault as suppressed."""
        self._by[fault.reason] += 1
        if fault.number not in self._decided:
            self._rows.append(suppressed_row(fault))
            self._is_page_new = True
        self._count()

    @property
    def is_page_full(self) -> bool:
        """Whether the page of suppressed faults has to be stored before another is suppressed."""
        return len(self._rows) >= ROWS_OF_SUPPRESSED

    def _count(self) -> None:
        self.next += 1
        self.is_new = True

    def status(self, before: ScheduleStatus) -> ScheduleStatus:
        """Return the status of the schedule."""
        return replace(
            before,
            next=self.next,
            injected=self._injected,
            suppressed=self._by.total(),
            suppressed_by=dict(sorted(self._by.items())),
            late=self._late,
            latest=self._latest,
            message="",
        )

    async def store_page(self, objects: StormObjects, schedule: ObjectMeta) -> None:
        """Store the page of suppressed faults, if it has new ones."""
        if self._is_page_new:
            name = suppressed_page(schedule.name, schedule.uid, self._page)
            first = self._page * ROWS_OF_SUPPRESSED
            await objects.put_page(name, schedule, first, self._rows)
            self._is_page_new = False
        if self.is_page_full:
            self._page, self._rows = self._page + 1, []


async def stored_progress(
    objects: StormObjects, schedule: ObjectMeta, status: ScheduleStatus
) -> StormProgress:
    """Return how far a schedule is by what the cluster has stored."""
    page = status.suppressed // ROWS_OF_SUPPRESSED
    found = await objects.page(suppressed_page(schedule.name, schedule.uid, page))
    return StormProgress(status, () if found is None else found.spec.rows)
