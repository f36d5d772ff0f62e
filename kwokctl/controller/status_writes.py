"""Stores the status of kwokctl's own custom resources, whole or not at all."""

import re

import msgspec

from kwokctl.errors import ApiError
from kwokctl.faults.objects.fault_schema import ObjectMeta
from kwokctl.json_value import Json
from kwokctl.kube.client import Client, PatchType
from kwokctl.kube.resource import Resource

_UNKNOWN = re.compile(r'unknown field "([^"]+)"')


class LackingFieldError(ApiError):
    """The definition of a kind lacks a field that was to be stored."""


async def put_status(
    client: Client,
    resource: Resource,
    meta: ObjectMeta,
    before: msgspec.Struct,
    status: msgspec.Struct,
) -> bytes:
    """Store a status in place of the one before, if the object is the known version of it; return the object as stored.

    Raises ApiError if the cluster refuses, and LackingFieldError if the CustomResourceDefinition, of another version of kwokctl, lacks a
    field of it: the API server would drop that field, and what was done would be done again without end.
    """
    path = f"{resource.path(None, meta.name, 'status')}?fieldValidation=Strict"
    body = status_patch(meta, before, status)
    try:
        return await client.call("PATCH", path, body, content_type=PatchType.MERGE)
    except ApiError as e:
        if not (lacking := _UNKNOWN.findall(str(e))):
            raise
        fields = ", ".join(dict.fromkeys(lacking))
        raise LackingFieldError(
            f"the CustomResourceDefinition '{resource.plural}.{resource.group}' is of another version: it lacks {fields}",
            status=e.status,
            reason=e.reason,
            hint="apply the definitions of this version of kwokctl: those in templates/crds",
        ) from e


def status_patch(known: ObjectMeta, before: msgspec.Struct, after: msgspec.Struct) -> bytes:
    """Return the merge patch from one status to another, which the API server takes for the known version only."""
    built: dict[str, Json] = msgspec.to_builtins(after)
    was: dict[str, Json] = msgspec.to_builtins(before)
    gone = dict.fromkeys(was.keys() - built.keys())
    same = {"resourceVersion": known.resource_version, "uid": known.uid}
    return msgspec.json.encode({"metadata": same, "status": {**gone, **built}})
