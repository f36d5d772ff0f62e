"""The data plane that goes through the Kubernetes API, as kubelets do."""

from collections.abc import Mapping
from urllib.parse import quote

import orjson

from kwokctl.dataplane.port import Target
from kwokctl.kube.client import PatchType
from kwokctl.kube.http import JSON, Pool
from kwokctl.kube.refusal import refusal
from kwokctl.kube.resource import Resource

FIELD_MANAGER = "kwok"
"""Under which name the cluster keeps which fields we have written."""


class ApiPlane:
    """Writes over a pool of connections; one request is one write."""

    def __init__(self, pool: Pool) -> None:
        """Use the pool, and own it: `close` closes it."""
        self._pool = pool
        self._query = f"?fieldManager={FIELD_MANAGER}"

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        """Create one object by POST, status included where the kind keeps it."""
        return await self._send(
            "POST", resource.path(namespace) + self._query, body, as_user=as_user
        )

    async def patch(
        self,
        target: Target,
        body: bytes,
        patch_type: PatchType,
        *,
        subresource: str = "",
        as_user: str = "",
    ) -> bytes:
        """Patch one object, or its subresource; server-side apply takes fields from others."""
        force = "&force=true" if patch_type is PatchType.APPLY else ""
        path = f"{_path(target, subresource)}{self._query}{force}"
        return await self._send("PATCH", path, body, content_type=patch_type.value, as_user=as_user)

    async def replace(self, target: Target, body: bytes) -> bytes:
        """Replace one object by PUT."""
        return await self._send("PUT", _path(target) + self._query, body)

    async def delete(
        self, target: Target, *, grace_seconds: int | None = None, uid: str | None = None
    ) -> None:
        """Delete one object."""
        options: dict[str, object] = {}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        body = orjson.dumps(options) if options else b""
        await self._send("DELETE", _path(target), body)

    async def close(self) -> None:
        """Let the connections go."""
        await self._pool.close()

    async def _send(
        self, method: str, path: str, body: bytes, *, content_type: str = JSON, as_user: str = ""
    ) -> bytes:
        headers: Mapping[str, str] | None = None
        if as_user:
            headers = {"Impersonate-User": quote(as_user, safe=":@/+=,. ")}
        response = await self._pool.request(
            method, path, body=body, content_type=content_type, headers=headers
        )
        if response.status >= 400:
            raise refusal(response.status, response.body)
        return response.body


def _path(target: Target, subresource: str = "") -> str:
    return target.resource.path(target.namespace, target.name, subresource)
