"""Writes objects of a file to a cluster through its API, many in parallel."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus

import msgspec
import orjson

from kwokctl.clusters.object_files.reading import Owner
from kwokctl.clusters.object_files.restoring.checking import RestoreItem
from kwokctl.clusters.object_files.restoring.sent_objects import (
    NewUids,
    is_of_the_cluster,
    replacing,
    sent,
    without_address,
)
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.kube.client import FIELD_MANAGER, Client
from kwokctl.kube.resource import NAMESPACES, SERVICE_ACCOUNTS, Resource
from kwokctl.kube.stored_json import ObjectInJson
from kwokctl.progress import Step
from kwokctl.retry import may_pass, retried
from kwokctl.tasks import for_each


class Surroundings:
    """The objects of a cluster that are not in a file."""

    def __init__(self, client: Client) -> None:
        """Read and create objects through `client`."""
        self._client = client
        self._uids: dict[tuple[str, str, str | None, str], str] = {}
        self._made: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._done: set[str] = set()

    async def uid_of(self, owner: Owner, namespace: str | None) -> str:
        """Return the uid of an owner in the cluster; empty if it does not exist."""
        key = (owner.api_version, owner.kind, namespace, owner.name)
        if not self._uids.get(key):
            self._uids[key] = await self._found(owner, namespace)
        return self._uids[key]

    async def helped(self, refusal: ApiError, item: RestoreItem, value: ObjectInJson) -> bool:
        """Create the object that a refused one lacks; False if that is not the reason of the refusal."""
        text, namespace = str(refusal).lower(), item.object.namespace
        if refusal.status == HTTPStatus.NOT_FOUND and namespace:
            await self._make(NAMESPACES, None, namespace)
            return True
        if refusal.status != HTTPStatus.FORBIDDEN or "found" not in text:
            return False
        if "serviceaccount" in text and namespace:
            name = (value.get("spec") or {}).get("serviceAccountName") or "default"
            await self._make(SERVICE_ACCOUNTS, namespace, name)
        return True

    async def _found(self, owner: Owner, namespace: str | None) -> str:
        try:
            resource = await self._client.resource_for(owner.api_version, owner.kind)
        except NotFoundError:
            return ""
        where = namespace if resource.namespaced else None
        found = await self._client.find(resource, where, owner.name)
        return str(found["metadata"]["uid"]) if found else ""

    async def _make(self, resource: Resource, namespace: str | None, name: str) -> None:
        """Create an object with only a name, at most once."""
        path = resource.path(namespace, name)
        async with self._made[path]:
            if path in self._done:
                return
            self._done.add(path)
            body = {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name},
            }
            try:
                await self._client.create(resource, namespace, orjson.dumps(body))
            except ApiError as e:
                if e.reason != "AlreadyExists":
                    raise


PARALLEL_REQUESTS = 32
_QUERY = f"?fieldManager={FIELD_MANAGER}&fieldValidation=Ignore"
_TRIES = 10
_PAUSE = 0.3
"""Seconds until a new object can be referred to: controllers of the API server must see it first."""
_OWN_STATUS = frozenset(("Namespace", "CustomResourceDefinition", "APIService"))
"""Kinds whose status the cluster determines."""


class LoadCounts(msgspec.Struct, kw_only=True):
    """The results of writing the objects of a file."""

    created: int = 0
    updated: int = 0
    left: int = 0
    """The number of objects that were left alone because every cluster creates them by itself."""
    skipped: list[str] = msgspec.field(default_factory=list)
    """The objects whose owner is neither in the file nor in the cluster."""
    failed: list[str] = msgspec.field(default_factory=list)
    """The objects that were refused, with the reasons."""


class ObjectLoader:
    """Writes objects to one cluster."""

    def __init__(self, client: Client, uids: NewUids, step: Step) -> None:
        """Write through `client`; new uids are noted in `uids`, and `step` is called for each object."""
        self.counts = LoadCounts()
        self._client = client
        self._uids = uids
        self._step = step
        self._around = Surroundings(client)

    async def load(self, items: Sequence[RestoreItem]) -> None:
        """Write objects that do not depend on each other.

        Refusals of the cluster are counted; ApiError is raised if it does not answer.
        """
        await for_each(items, self._load, at_once=PARALLEL_REQUESTS)

    def note_created(self, item: RestoreItem, uid: str) -> None:
        """Count an object that another writer has created, and note its new uid."""
        self.counts.created += 1
        self._uids.note(item.object.uid, uid)
        self._step.advance()

    async def _load(self, item: RestoreItem) -> None:
        try:
            await self._decide(item)
        except (ApiError, NotFoundError) as e:
            if isinstance(e, ApiError) and may_pass(e):
                raise
            self.counts.failed.append(f"{item.object.label}: {e}")
        self._step.advance()

    async def _decide(self, item: RestoreItem) -> None:
        if is_of_the_cluster(item):
            self.counts.left += 1
        elif missing := await self._missing(item):
            owners = ", ".join(f"{owner.kind} '{owner.name}'" for owner in missing)
            self.counts.skipped.append(f"{item.object.label}: its owner {owners} is missing")
        else:
            await self._write(item)

    async def _missing(self, item: RestoreItem) -> list[Owner]:
        """Return the owners that do not exist; the uids of those in the cluster are noted."""
        unknown = [owner for owner in item.object.owners if not self._uids.knows(owner.uid)]
        missing = []
        for owner in unknown:
            uid = await self._around.uid_of(owner, item.object.namespace or None)
            if uid:
                self._uids.note(owner.uid, uid)
            else:
                missing.append(owner)
        return missing

    async def _write(self, item: RestoreItem) -> None:
        value = sent(self._uids.followed(item.object.body))
        try:
            stored = await self._created(item, value)
            self.counts.created += 1
        except ApiError as e:
            if e.reason != "AlreadyExists" and not await self._holds_ports(item, e):
                raise
            stored = await self._replaced(item, value)
            self.counts.updated += 1
        self._uids.note(item.object.uid, stored["metadata"]["uid"])
        await self._write_status(item, value, stored)

    async def _created(self, item: RestoreItem, value: ObjectInJson) -> ObjectInJson:
        for tries in range(_TRIES):
            try:
                return await self._post(item, value)
            except ApiError as e:
                if e.status == HTTPStatus.UNPROCESSABLE_ENTITY and (
                    other := without_address(value)
                ):
                    value = other
                elif tries + 1 == _TRIES or not await self._around.helped(e, item, value):
                    raise
                elif tries:
                    await asyncio.sleep(_PAUSE)
        raise AssertionError

    async def _post(self, item: RestoreItem, value: ObjectInJson) -> ObjectInJson:
        path = item.resource.path(item.object.namespace or None) + _QUERY
        return await self._sent("POST", path, value)

    async def _holds_ports(self, item: RestoreItem, refusal: ApiError) -> bool:
        """Return whether a Service was refused because it exists already and holds its ports.

        The API server allocates the ports of a Service before it looks for a Service of that name.
        """
        if refusal.status != HTTPStatus.UNPROCESSABLE_ENTITY or item.object.kind != "Service":
            return False
        where = item.resource, item.object.namespace or None, item.object.name
        return await retried(partial(self._client.find, *where)) is not None

    async def _replaced(self, item: RestoreItem, value: ObjectInJson) -> ObjectInJson:
        where = item.resource, item.object.namespace or None, item.object.name
        path = item.resource.path(*where[1:]) + _QUERY
        for _ in range(_TRIES):
            existing = await retried(partial(self._client.get, *where))
            try:
                return await self._sent("PUT", path, replacing(value, existing))
            except ApiError as e:
                if e.status != HTTPStatus.CONFLICT:
                    raise
        raise NotFoundError("other clients change it all the time")

    async def _write_status(
        self, item: RestoreItem, value: ObjectInJson, stored: ObjectInJson
    ) -> None:
        status = value.get("status")
        if not item.kind.has_status or not status or stored.get("status") == status:
            return
        if item.object.kind in _OWN_STATUS:
            return
        place = item.object.namespace or None, item.object.name, "status"
        path = item.resource.path(*place) + _QUERY
        try:
            await self._sent("PUT", path, {**stored, "status": status})
        except ApiError as e:
            if may_pass(e):
                raise
            self.counts.failed.append(f"the status of {item.object.label}: {e}")

    async def _sent(self, method: str, path: str, value: ObjectInJson) -> ObjectInJson:
        body = orjson.dumps(value)
        answer: ObjectInJson = msgspec.json.decode(
            await retried(partial(self._client.call, method, path, body))
        )
        return answer
