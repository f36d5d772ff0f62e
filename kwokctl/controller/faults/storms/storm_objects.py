"""Reads and writes the objects of storms, through the API."""

from collections.abc import Sequence

import msgspec

from kwokctl.controller.status_writes import put_status
from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import ObjectMeta, StoredFault, StoredPage
from kwokctl.faults.storms.stored_schedule import ScheduleStatus, StoredSchedule
from kwokctl.faults.storms.storm_faults import owning_schedule, page_body
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES, FAULTS, NODES, Resource

_NOT_THERE, _EXISTS = 404, 409
_schedule = msgspec.json.Decoder(StoredSchedule).decode
_fault = msgspec.json.Decoder(StoredFault).decode
_page = msgspec.json.Decoder(StoredPage).decode


class StormObjects:
    """The schedules, pages and Faults of storms. Its methods raise ApiError when the cluster refuses."""

    def __init__(self, client: Client) -> None:
        """Read and write with `client`."""
        self._client = client

    async def schedule(self, name: str) -> StoredSchedule | None:
        """Return a schedule; None if there is none with this name."""
        raw = await self._found(FAULT_SCHEDULES, name)
        return None if raw is None else _schedule(raw)

    async def node(self, name: str) -> dict[str, Json] | None:
        """Return a node; None if it does not exist."""
        return await self._client.find(NODES, None, name)

    async def page(self, name: str) -> StoredPage | None:
        """Return a page; None if it does not exist."""
        raw = await self._found(FAULT_PAGES, name)
        return None if raw is None else _page(raw)

    async def put_page(
        self, name: str, schedule: ObjectMeta, number: int, rows: Sequence[str]
    ) -> None:
        """Store a page of a schedule, in place of the one that is there."""
        try:
            await self._client.create(FAULT_PAGES, None, page_body(name, schedule, number, rows))
        except ApiError as e:
            if e.status != _EXISTS:
                raise
            patch = msgspec.json.encode({"spec": {"rows": rows}})
            path = FAULT_PAGES.path(None, name)
            await self._client.call("PATCH", path, patch, content_type=PatchType.MERGE)

    async def put_status(self, known: StoredSchedule, status: ScheduleStatus) -> StoredSchedule:
        """Store the status of a schedule, if it is the known version of it; return it as stored."""
        raw = await put_status(self._client, FAULT_SCHEDULES, known.metadata, known.status, status)
        return _schedule(raw)

    async def make_fault(self, body: dict[str, Json], schedule: ObjectMeta) -> StoredFault | None:
        """Make a Fault, unless it is there already; None if one that is not the schedule's has its name."""
        try:
            return _fault(await self._client.create(FAULTS, None, msgspec.json.encode(body)))
        except ApiError as e:
            if e.status != _EXISTS:
                raise
        return await self.fault(body["metadata"]["name"], schedule)

    async def fault(self, name: str, schedule: ObjectMeta) -> StoredFault | None:
        """Return a Fault that a schedule has brought; None if there is none with this name, or one that is not the schedule's."""
        raw = await self._found(FAULTS, name)
        found = None if raw is None else _fault(raw)
        owner = None if found is None else owning_schedule(found.metadata)
        return found if owner is not None and owner.uid == schedule.uid else None

    async def remove_fault(self, fault: ObjectMeta) -> None:
        """Delete a Fault, if it still is this one."""
        body = msgspec.json.encode({"preconditions": {"uid": fault.uid}})
        await self._remove(FAULTS, fault.name, body)

    async def remove_page(self, name: str) -> None:
        """Delete a page."""
        await self._remove(FAULT_PAGES, name, b"")

    async def _remove(self, resource: Resource, name: str, body: bytes) -> None:
        try:
            await self._client.call("DELETE", resource.path(None, name), body)
        except ApiError as e:
            if e.status not in (
                _NOT_THERE,
                _EXISTS,
            ):  # it is gone, or its name is that of a new one
                raise

    async def _found(self, resource: Resource, name: str) -> bytes | None:
        try:
            return await self._client.get_raw(resource, None, name)
        except ApiError as e:
            if e.status != _NOT_THERE:
                raise
            return None
