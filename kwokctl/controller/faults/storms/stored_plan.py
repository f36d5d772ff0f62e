"""Reads the plan of a schedule page by page, as its faults become due."""

from kwokctl.controller.faults.storms.storm_objects import StormObjects
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.faults.storms.plan_pages import plan_page, read_planned
from kwokctl.faults.storms.storm_plan import PlannedFault


class StoredPlan:
    """The plan of one schedule; one page of it is in memory."""

    def __init__(self, objects: StormObjects, schedule: ObjectMeta, pages: int) -> None:
        """Read the plan of a schedule, which has a number of pages."""
        self._objects = objects
        self._schedule = schedule
        self._pages = pages
        self._page = -1
        """The page that is in memory."""
        self._first = 0
        """The number of the first fault in it."""
        self._rows: tuple[str, ...] = ()

    async def fault(self, number: int) -> PlannedFault | None:
        """Return the fault with a number; None if its page does not exist."""
        if not self._has(number):
            await self._seek(number)
        return read_planned(self._rows[number - self._first]) if self._has(number) else None

    def _has(self, number: int) -> bool:
        return self._first <= number < self._first + len(self._rows)

    async def _seek(self, number: int) -> None:
        """Read the page with a fault: mostly the one that follows, else the one in the middle of those where it may be."""
        least, most, page = 0, self._pages - 1, self._page + 1
        while least <= most:
            if not least <= page <= most:
                page = (least + most) // 2
            if not await self._read(page) or self._has(number):
                return
            least, most = (page + 1, most) if number > self._first else (least, page - 1)
            page = -1

    async def _read(self, page: int) -> bool:
        """Read a page; return whether it exists."""
        meta = self._schedule
        found = await self._objects.page(plan_page(meta.name, meta.uid, page))
        self._page, self._rows = page, found.spec.rows if found is not None else ()
        self._first = found.spec.number if found is not None else 0
        return found is not None
