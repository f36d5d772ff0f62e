"""Follows the Faults of the cluster, their schedules, and the pages of both; their kinds may come and go meanwhile."""

from collections.abc import Awaitable, Callable
from random import Random

from kwokctl.controller.faults.storms.known_schedules import KnownSchedules
from kwokctl.controller.known_faults.open_faults import OpenFaults
from kwokctl.faults.objects.fault_schema import StoredFault, StoredPage
from kwokctl.faults.storms.stored_schedule import StoredSchedule
from kwokctl.kube.client import Client
from kwokctl.kube.collections.defined_kinds import DefinedKinds, FollowedKind, NamedObject
from kwokctl.kube.collections.watch import EventType
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES, FAULTS, Resource


class FaultWatch:
    """Feeds what is known of faults with the objects of the cluster."""

    def __init__(
        self,
        client: Client,
        faults: OpenFaults,
        schedules: KnownSchedules,
        begin: Callable[[], Awaitable[None]],
        random: Random,
        seen: Callable[[Resource, int], None],
    ) -> None:
        """Watch with `client`; `begin` is awaited before anything is listed, and `seen` gets the versions of Faults."""
        self._faults, self._schedules = faults, schedules
        self._seen = seen
        self._kinds = DefinedKinds(
            client,
            (
                FollowedKind(FAULTS, StoredFault, self._fault),
                FollowedKind(FAULT_PAGES, StoredPage, self._page),
                # What nodes show does not depend on schedules.
                FollowedKind(
                    FAULT_SCHEDULES, StoredSchedule, self._schedule, synced=schedules.synced
                ),
            ),
            random,
            gone=self._forget,
            begin=begin,
            has_come_back=self._has_come_back,
        )

    @property
    def is_known(self) -> bool:
        """Whether all are known, or the cluster has turned out to have none."""
        return self._kinds.is_known

    async def known(self) -> None:
        """Wait until all are known, or the cluster has turned out to have none."""
        await self._kinds.known()

    async def run(self) -> None:
        """Follow until cancelled."""
        await self._kinds.run()

    def _forget(self) -> None:
        self._faults.forget()
        self._schedules.forget()

    def _has_come_back(self, found: object) -> bool:
        """Return whether a fault came with a state of the cluster whose clock may have come with it."""
        return isinstance(found, StoredFault) and self._faults.has_come_back(found)

    def _page(self, event: EventType, page: StoredPage | NamedObject) -> None:
        if isinstance(page, NamedObject) or event is EventType.DELETED:
            self._faults.drop_page(page.metadata.name)
            self._schedules.drop_page(page.metadata.name)
        elif page.spec.schedule:
            self._schedules.note_page(page)
        else:
            self._faults.note_page(page)

    def _schedule(self, event: EventType, schedule: StoredSchedule | NamedObject) -> None:
        if isinstance(schedule, NamedObject) or event is EventType.DELETED:
            self._schedules.drop(schedule.metadata.uid)
        else:
            self._schedules.note(schedule)

    def _fault(self, event: EventType, fault: StoredFault | NamedObject) -> None:
        if isinstance(fault, NamedObject) or event is EventType.DELETED:
            self._faults.drop(fault.metadata.uid)
        else:
            self._faults.note(fault)
        self._seen(FAULTS, int(fault.metadata.resource_version or 0))
