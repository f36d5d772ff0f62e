"""The data plane that goes through the Kubernetes API, as kubelets do."""

import asyncio
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import orjson

from kwokctl.dataplane.bulk.api_bulk import ApiBulk
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.dataplane.port import (
    NewObjects,
    ObjectKey,
    OldObjects,
    Patch,
    Renewal,
    Renewed,
)
from kwokctl.errors import ApiError
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import EVENTS, LEASES, NODE_LEASES, Resource
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal
from kwokctl.kube.transport.request_encoder import JSON, header_value

FIELD_MANAGER = "kwok"
"""The name under which managed fields record what we have written."""


class ApiPlane:
    """Writes over a pool of connections; one request is one write."""

    leases_at_once = 1
    direct = None

    def __init__(self, pool: Pool, *, manager: str = FIELD_MANAGER) -> None:
        """Use the pool, which the caller closes. The cluster records `manager` as the writer."""
        self.pool = pool
        self.bulk = ApiBulk(self)
        self.manager = manager
        self._query = f"?fieldManager={manager}"

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object with POST, including its status where the kind keeps it."""
        return await self._send(
            "POST", resource.path(namespace) + self._query, body, as_user=as_user
        )

    async def record(self, event: ObjectEvent) -> None:
        """Create an Event, or raise its count if it exists already."""
        if event.count > 1 and await self._recount(event):
            return
        await self.create(EVENTS, event.namespace, orjson.dumps(event.document()))

    async def _recount(self, event: ObjectEvent) -> bool:
        """Change the count of an Event; False if it has expired."""
        target = ObjectKey(EVENTS, event.namespace, event.name)
        try:
            await self.patch(target, Patch(document=event.repetition(), type=PatchType.MERGE))
        except ApiError as e:
            if e.status != HTTPStatus.NOT_FOUND:
                raise
            return False
        return True

    async def patch(
        self,
        target: ObjectKey,
        patch: Patch,
        *,
        current: ObjectInJson | None = None,
    ) -> ObjectInJson:
        """Patch one object, or its subresource; server-side apply takes fields of other managers."""
        force = "&force=true" if patch.type is PatchType.APPLY else ""
        path = f"{_path(target, patch.subresource)}{self._query}{force}"
        answer = await self._send(
            "PATCH",
            path,
            orjson.dumps(patch.document),
            content_type=patch.type.value,
            as_user=patch.as_user,
        )
        stored: ObjectInJson = orjson.loads(answer)
        return stored

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        """Write leases of nodes, one request each."""
        return await asyncio.gather(*map(self._renew, renewals))

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: ObjectInJson | None = None,
    ) -> None:
        """Delete one object."""
        options: dict[str, object] = {}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        body = orjson.dumps(options) if options else b""
        await self._send("DELETE", _path(target), body)

    async def create_copies(self, new: NewObjects) -> None:
        """Create objects with one request each, many in parallel."""
        await self.bulk.create(new)

    async def delete_many(self, old: OldObjects) -> None:
        """Delete objects with one request each, many in parallel."""
        await self.bulk.delete(old)

    async def _renew(self, renewal: Renewal) -> Renewed:
        document = renewal.lease.document()
        try:
            if renewal.version:
                metadata = {**document["metadata"], "resourceVersion": renewal.version}
                body = orjson.dumps({**document, "metadata": metadata})
                path = LEASES.path(NODE_LEASES, renewal.node) + self._query
                raw = await self._send("PUT", path, body)
            else:
                raw = await self.create(LEASES, NODE_LEASES, orjson.dumps(document))
        except ApiError as e:
            return Renewed(error=e)
        found = read_lease(raw)
        return Renewed(version=found.version, found=found)

    async def _send(
        self, method: str, path: str, body: bytes, *, content_type: str = JSON, as_user: str = ""
    ) -> bytes:
        headers: Mapping[str, str] | None = None
        if as_user:
            headers = {"Impersonate-User": header_value(as_user)}
        response = await self.pool.request(
            method, path, body=body, content_type=content_type, headers=headers
        )
        if response.status >= 400:
            raise refusal(response.status, response.body)
        return response.body


def _path(target: ObjectKey, subresource: str = "") -> str:
    return target.resource.path(target.namespace, target.name, subresource)
