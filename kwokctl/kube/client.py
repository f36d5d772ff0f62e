"""Reads and writes single objects over the Kubernetes API."""

from enum import StrEnum
from urllib.parse import urlencode

import msgspec

from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.discovery import Discovery
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal
from kwokctl.kube.transport.request_encoder import JSON

FIELD_MANAGER = "kwokctl"


class PatchType(StrEnum):
    """The types of patches, as content types."""

    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


class Client:
    """Client of one API server.

    Bodies are JSON bytes, so that only callers that need an object decode it. Every
    method raises ApiError when the server refuses or does not answer.
    """

    def __init__(self, pool: Pool) -> None:
        """Use the connections of `pool`, which stays its owner's to close."""
        self.pool = pool
        self._discovery = Discovery(pool)

    async def get(self, resource: Resource, namespace: str | None, name: str) -> dict[str, Json]:
        """Return one object."""
        found: dict[str, Json] = msgspec.json.decode(await self.get_raw(resource, namespace, name))
        return found

    async def get_raw(self, resource: Resource, namespace: str | None, name: str) -> bytes:
        """Return one object as JSON."""
        return await self.call("GET", resource.path(namespace, name))

    async def find(
        self, resource: Resource, namespace: str | None, name: str
    ) -> dict[str, Json] | None:
        """Return one object, or None if it does not exist."""
        try:
            return await self.get(resource, namespace, name)
        except ApiError as e:
            if e.status == 404:
                return None
            raise

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, dry_run: bool = False
    ) -> bytes:
        """Create an object and return it as stored, or with `dry_run` as it would be."""
        query = _query(dryRun="All" if dry_run else "", fieldManager=FIELD_MANAGER)
        return await self.call("POST", resource.path(namespace) + query, body)

    async def update(
        self, resource: Resource, namespace: str | None, name: str, body: bytes
    ) -> bytes:
        """Replace an object, only this version of it if the body has a `resourceVersion`."""
        path = resource.path(namespace, name) + _query(fieldManager=FIELD_MANAGER)
        return await self.call("PUT", path, body)

    async def resource_for(self, api_version: str, kind: str) -> Resource:
        """Return the resource that serves a kind; NotFoundError lists the kinds that are served."""
        return await self._discovery.resource_for(api_version, kind)

    async def versions_of(self, group: str) -> list[str]:
        """Return the API versions of a group that are served, the preferred one first; none without the group."""
        return await self._discovery.versions_of(group)

    def forget(self, resource: Resource) -> None:
        """Ask again for a resource that is not served any more, when its kind is looked for."""
        self._discovery.forget(resource)

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
