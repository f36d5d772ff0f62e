"""Writes of other clients of an API server, which the product itself never makes."""

from urllib.parse import urlencode

import msgspec

from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import Resource

_MANAGER = "kwokctl"
"""The same as the product's, so that an apply meets no conflict with it."""


async def patch(
    client: Client,
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
    query = urlencode({"fieldManager": _MANAGER} | ({"force": "true"} if force else {}))
    return await client.call("PATCH", f"{path}?{query}", body, content_type=patch_type.value)


async def replace(
    client: Client,
    resource: Resource,
    namespace: str | None,
    name: str,
    body: bytes,
    *,
    subresource: str = "",
) -> bytes:
    """Replace an object, or what its subresource holds."""
    path = resource.path(namespace, name, subresource)
    return await client.call("PUT", f"{path}?fieldManager={_MANAGER}", body)


async def delete(
    client: Client,
    resource: Resource,
    namespace: str | None,
    name: str,
    *,
    grace_seconds: int | None = None,
    uid: str | None = None,
) -> bytes:
    """Delete an object, only the one with this `uid` if given; finalizers are honoured."""
    options: Json = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
    if uid is not None:
        options["preconditions"] = {"uid": uid}
    body = msgspec.json.encode(options) if options else b""
    return await client.call("DELETE", resource.path(namespace, name), body)
