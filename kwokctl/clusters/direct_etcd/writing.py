"""Puts objects into etcd, past the API server; all are checked before the first is written."""

from collections.abc import Iterable, Iterator, Mapping
from uuid import uuid4

import msgspec

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import DEFAULT_NAMESPACE, PARALLEL_WRITES, WantedObjects
from kwokctl.clusters.direct_etcd.given_objects import GivenObject, GivenObjects
from kwokctl.dataplane.etcd_keys import is_readable
from kwokctl.dataplane.objects.api_types import api_type
from kwokctl.dataplane.objects.protobuf_objects import ShapeError, encoded
from kwokctl.dataplane.objects.resources import DEFINITION, StoredResource
from kwokctl.dataplane.objects.stored_kind import stored_kind
from kwokctl.dataplane.objects.stored_values import json_value, value_with
from kwokctl.errors import ApiError, ConfigError, ConflictError, KwokctlError, NotFoundError
from kwokctl.etcd.kv.kv import KeyValue, prefix_end
from kwokctl.json_value import Json
from kwokctl.replacing import replace
from kwokctl.tasks import for_each

_NAMED_WITH_DOT = "APIService"
"""A kind whose names the API server parses (`kube-aggregator`, `APIServiceNameToGroupVersion`)."""
_NEVER_SERVED = frozenset({"RangeAllocation", DEFINITION})
"""Kinds that API servers store in versions that they do not serve."""
DROPPED = frozenset({"resourceVersion", "selfLink"})
"""Metadata that is not stored: etcd's revision replaces one, and API servers have dropped the other."""


class PreparedObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object that the API server can read, with its key."""

    place: str
    resource: StoredResource
    api_version: str
    key: bytes
    value: bytes
    document: Mapping[str, Json]

    def as_json(self) -> "PreparedObject":
        """Return the object encoded as JSON, which keeps fractions of seconds."""
        return replace(self, value=json_value(self.document))


async def put_objects(
    access: ObjectAccess,
    given: GivenObjects,
    wanted: WantedObjects,
    *,
    now: str,
    is_dry_run: bool = False,
) -> list[KeyValue]:
    """Write the selected objects, and return their stored values.

    Raises ConfigError, with place and field, before anything is written if the API server could not
    read one of them; one such value breaks every list of its kind.
    """
    prepared = await prepared_objects(access, given, wanted, now=now)
    if not is_dry_run:
        await write_objects(access, prepared)
    return [KeyValue(each.key, each.value, 0) for each in prepared]


async def prepared_objects(
    access: ObjectAccess, given: GivenObjects, wanted: WantedObjects, *, now: str
) -> list[PreparedObject]:
    """Check and encode the selected objects; ConfigError as `put_objects` raises it."""
    access = with_definitions(access, (each.document for each in given.all))
    prepared = list(_prepared(access, given, wanted, now))
    await _check_kept(access, prepared)
    return prepared


async def write_objects(access: ObjectAccess, prepared: Iterable[PreparedObject]) -> None:
    """Write objects, each in its own revision."""
    store = access.store
    await for_each(
        prepared, lambda each: store.put_over(each.key, each.value), at_once=PARALLEL_WRITES
    )


def with_definitions(access: ObjectAccess, documents: Iterable[Mapping[str, Json]]) -> ObjectAccess:
    """Return the access with the kinds that definitions among the documents add."""
    new = [each for each in documents if each.get("kind") == DEFINITION]
    return replace(access, resources=access.resources.defining(new)) if new else access


def _prepared(
    access: ObjectAccess, given: GivenObjects, wanted: WantedObjects, now: str
) -> Iterator[PreparedObject]:
    only = access.resources.find(wanted.resource) if wanted.resource else None
    for each in given.all:
        try:
            found = _one(access, each, wanted, now)
        except KwokctlError as e:
            raise ConfigError(f"{each.place}: {e}", hint=e.hint) from e
        if found and (only is None or found.resource == only):
            yield found.as_json() if found.key.decode() in given.json_keys else found


def _one(
    access: ObjectAccess, given: GivenObject, wanted: WantedObjects, now: str
) -> PreparedObject | None:
    api_version, kind = (_text(given.document, each) for each in ("apiVersion", "kind"))
    resource = access.resources.of_kind(api_version, kind)
    metadata = _metadata(resource, given.document, wanted, now)
    name, namespace = metadata["name"], metadata.get("namespace") or ""
    if wanted.name not in ("", name) or not _is_in(wanted, namespace):
        return None
    document = {**given.document, "metadata": metadata}
    below = f"{namespace}/" if namespace else ""
    value = _custom_value(document) if resource.is_custom else value_with(document)
    return PreparedObject(
        place=given.place,
        resource=resource,
        api_version=api_version,
        key=f"{access.prefix}{resource.folder}/{below}{name}".encode(),
        value=value,
        document=document,
    )


def _metadata(
    resource: StoredResource, document: Mapping[str, Json], wanted: WantedObjects, now: str
) -> dict[str, Json]:
    """Return metadata as the API server would store it: completed, and without the fields it drops."""
    found = document.get("metadata")
    if not isinstance(found, Mapping):
        raise ShapeError("metadata", "must be a mapping")
    metadata = {name: value for name, value in found.items() if name not in DROPPED}
    name = _text(metadata, "name", "metadata.name")
    if resource.kind == _NAMED_WITH_DOT and "." not in name:
        raise ShapeError("metadata.name", "must be VERSION.GROUP: other names crash the API server")
    namespace = metadata.get("namespace") or ""
    if resource.is_namespaced:
        metadata["namespace"] = namespace or wanted.namespace or DEFAULT_NAMESPACE
        _text(metadata, "namespace", "metadata.namespace")
    elif namespace:
        raise ShapeError("metadata.namespace", f"must be empty: a {resource.kind} has no namespace")
    metadata["creationTimestamp"] = metadata.get("creationTimestamp") or now
    metadata["uid"] = metadata.get("uid") or str(uuid4())
    return metadata


def _is_in(wanted: WantedObjects, namespace: str) -> bool:
    return not namespace or wanted.is_everywhere or wanted.namespace in ("", namespace)


def _custom_value(document: Mapping[str, Json]) -> bytes:
    """Encode a custom resource; only its metadata has a known type."""
    encoded(api_type("meta/v1.ObjectMeta"), document["metadata"], "metadata")
    return json_value(document)


def _text(document: Mapping[str, Json], name: str, place: str = "") -> str:
    """Return a field that becomes part of a key; ShapeError if it cannot be."""
    value = document.get(name)
    if (
        not isinstance(value, str)
        or not value
        or (place and ("/" in value or value in (".", "..")))
    ):
        raise ShapeError(place or name, "must be a string" if not value else f"cannot be '{value}'")
    return value


async def _check_kept(access: ObjectAccess, prepared: Iterable[PreparedObject]) -> None:
    """Raise ConflictError if the API server encrypts objects beside these, and so might not read them."""
    firsts = {(each.resource.folder, each.api_version): each for each in prepared}
    for (folder, api_version), each in firsts.items():
        start = f"{access.prefix}{folder}/".encode()
        there = (await access.kv.page(start, prefix_end(start), limit=1)).items
        if there and not is_readable(there[0].value):
            raise ConflictError(
                f"the values under '{start.decode()}' are encrypted",
                hint="write these objects through the API server",
            )
        kept = stored_kind(there[0].value) if there else None
        if kept is None or kept.api_version != api_version:
            await _check_served(access, each)


async def _check_served(access: ObjectAccess, each: PreparedObject) -> None:
    """Raise ConfigError for a version that the API server does not serve, if it can be asked."""
    is_unasked = each.resource.is_custom or each.resource.kind in _NEVER_SERVED
    if access.api is None or is_unasked:
        return
    try:
        await access.api.resource_for(each.api_version, each.resource.kind)
    except NotFoundError as e:
        raise ConfigError(f"{each.place}: {e}", hint=e.hint) from e
    except ApiError:
        return  # the API server does not answer
