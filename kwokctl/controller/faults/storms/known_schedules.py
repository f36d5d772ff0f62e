"""The FaultSchedules of the cluster, and the pages about them, as far as the watches have said."""

from collections.abc import Callable
from typing import NamedTuple

from kwokctl.faults.objects.fault_schema import StoredPage
from kwokctl.faults.storms.stored_schedule import OVER, SCHEDULE_LABEL, StoredSchedule

Noted = Callable[[str], None]
"""Gets the uid of a schedule that is new, has changed, or is gone."""


class SchedulePage(NamedTuple):
    """A page, and name and uid of its schedule."""

    name: str
    schedule: str
    uid: str


class KnownSchedules:
    """The schedules by uid. What pages contain is not kept: a plan may have a hundred thousand faults."""

    def __init__(self) -> None:
        """Begin without any."""
        self.schedules: dict[str, StoredSchedule] = {}
        self._pages: dict[str, SchedulePage] = {}
        """By their names."""
        self._noted: list[Noted] = []
        self.is_known = False
        """Whether all that there are were listed."""

    def attend(self, noted: Noted) -> None:
        """Call `noted` whenever a schedule changes."""
        self._noted.append(noted)

    @property
    def are_running(self) -> bool:
        """Whether one has not ended: then the clock of faults must be kept."""
        return any(each.status.phase not in OVER for each in self.schedules.values())

    @property
    def orphaned_pages(self) -> list[SchedulePage]:
        """The pages of schedules that are not known."""
        return [each for each in self._pages.values() if each.uid not in self.schedules]

    def note(self, schedule: StoredSchedule) -> None:
        """Note a schedule as it is now."""
        self.schedules[schedule.metadata.uid] = schedule
        self._tell(schedule.metadata.uid)

    def drop(self, uid: str) -> None:
        """Note that a schedule does not exist any more."""
        if self.schedules.pop(uid, None) is not None:
            self._tell(uid)

    def note_page(self, page: StoredPage) -> None:
        """Note that there is a page about a schedule."""
        meta = page.metadata
        schedule = (meta.labels or {}).get(SCHEDULE_LABEL, "")
        self._pages[meta.name] = SchedulePage(meta.name, schedule, page.spec.schedule)

    def drop_page(self, name: str) -> None:
        """Note that a page does not exist any more."""
        self._pages.pop(name, None)

    def synced(self) -> None:
        """Note that all schedules were listed."""
        self.is_known = True
        for uid in tuple(self.schedules):
            self._tell(uid)

    def forget(self) -> None:
        """Note that the kind was removed with all schedules."""
        for uid in tuple(self.schedules):
            self.drop(uid)
        self._pages.clear()

    def _tell(self, uid: str) -> None:
        for noted in self._noted:
            noted(uid)
