"""What can be asked of an API server about single objects, and about collections."""

from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Any
from urllib.parse import urlencode

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import PAGE, ListPage, ListQuery, list_pages
from kwokctl.kube.discovery import Discovery
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import JSON, Pool
from kwokctl.kube.transport.status import refusal

FIELD_MANAGER = "kwokctl"


class PatchType(StrEnum):
    """How a patch is to be read: its content type."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class Propagation(StrEnum):
    """What becomes of the objects that a deleted one owns."""

    BACKGROUND = "Background"
    FOREGROUND = "Foreground"
    ORPHAN = "Orphan"


class Client:
    """Asks one API server.

    Bodies go and come as JSON bytes, so that only who needs an object pays for decoding it. Every
    method raises ApiError when the server refuses or does not answer.
    """

    def __init__(self, pool: Pool) -> None:
        """Use the connections of `pool`, which stays its owner's to close."""
        self.pool = pool
        self._discovery = Discovery(pool)

    async def get(self, resource: Resource, namespace: str | None, name: str) -> dict[str, Any]:
        """Return one object."""
        found: dict[str, Any] = msgspec.json.decode(await self.get_raw(resource, namespace, name))
        return found

    async def get_raw(
        self, resource: Resource, namespace: str | None, name: str, *, subresource: str = ""
    ) -> bytes:
        """Return one object, or its subresource, as JSON."""
        return await self.call("GET", resource.path(namespace, name, subresource))

    async def find(
        self, resource: Resource, namespace: str | None, name: str
    ) -> dict[str, Any] | None:
        """Return one object, or None if there is none."""
        try:
            return await self.get(resource, namespace, name)
        except ApiError as e:
            if e.status == 404:
                return None
            raise

    def list_pages(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = PAGE,
    ) -> AsyncIterator[ListPage]:
        """Yield the pages of a list, all of one moment; see `paging.list_pages`."""
        query = ListQuery(
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
        )
        return list_pages(self.pool, query, limit=limit)

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, dry_run: bool = False
    ) -> bytes:
        """Create an object and return it as stored, or with `dry_run` as it would be."""
        query = _query(dryRun="All" if dry_run else "", fieldManager=FIELD_MANAGER)
        return await self.call("POST", resource.path(namespace) + query, body)

    async def update(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: bytes,
        *,
        subresource: str = "",
    ) -> bytes:
        """Replace an object, only this version of it if the body has a `resourceVersion`."""
        path = resource.path(namespace, name, subresource)
        return await self.call("PUT", path + _query(fieldManager=FIELD_MANAGER), body)

    async def patch(  # noqa: PLR0913 - that is what a patch consists of
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        body: bytes,
        patch_type: PatchType,
        *,
        subresource: str = "",
        force: bool = False,
    ) -> bytes:
        """Patch an object; `force` takes fields that others have applied (APPLY only)."""
        path = resource.path(namespace, name, subresource)
        query = _query(fieldManager=FIELD_MANAGER, force="true" if force else "")
        return await self.call("PATCH", path + query, body, content_type=patch_type.value)

    async def delete(
        self,
        resource: Resource,
        namespace: str | None,
        name: str,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        propagation: Propagation | None = None,
    ) -> bytes:
        """Delete an object, only the one with this `uid` if given; finalizers are honoured.

        Returns the object if it waits for something, else a status.
        """
        options: dict[str, Any] = {}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        if propagation is not None:
            options["propagationPolicy"] = propagation.value
        body = msgspec.json.encode(options) if options else b""
        return await self.call("DELETE", resource.path(namespace, name), body)

    async def resource_for(self, api_version: str, kind: str) -> Resource:
        """Return the resource that serves a kind; NotFoundError tells what else there is."""
        return await self._discovery.resource_for(api_version, kind)

    async def call(
        self, method: str, path: str, body: bytes = b"", *, content_type: str = JSON
    ) -> bytes:
        """Send any request and return the answer's body."""
        response = await self.pool.request(method, path, body=body, content_type=content_type)
        if response.status >= 400:
            raise refusal(response.status, response.body)
        return response.body


def _query(**parameters: str) -> str:
    """Return the query for what is not empty."""
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"?{query}" if query else ""
