"""A cluster in memory: objects, versions, and those who watch. Writes are counted and can be refused."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import count
from typing import Any

import orjson

from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.leases.decode import read_lease
from kwokctl.dataplane.port import ObjectKey, Patch, Renewal, Renewed
from kwokctl.errors import ApiError, NotFoundError
from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType
from kwokctl.kube.resource import EVENTS, LEASES, NODE_LEASES, Resource
from tests.support.through_api import ThroughApi

Watcher = Callable[[str, bytes], None]

_LIST_KEYS = {"conditions": "type", "addresses": "type", "podIPs": "ip", "hostIPs": "ip"}


class FakeCluster(ThroughApi):
    """Behaves as the API server does for the writes of fake kubelets; is its own data plane."""

    def __init__(self, *resources: Resource) -> None:
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.writes: list[tuple[str, str]] = []
        """Verb and name of every write that was tried, in order."""
        self.users: list[str] = []
        self.refuse: list[ApiError] = []
        """What the next writes are answered with, first come first served."""
        self.refuse_reads: list[ApiError] = []
        """What the next reads are answered with."""
        self.before_write: Callable[[ObjectKey], None] | None = None
        self.at_once = 0
        self.most_at_once = 0
        self._resources = {(r.api_version, r.kind): r for r in resources}
        self.version = 0
        """The resourceVersion of the last change."""
        self._history: list[tuple[int, str, str, bytes]] = []
        self._uids = count(1)
        self._watchers: dict[str, list[Watcher]] = {}

    def watch(self, resource: Resource, watcher: Watcher) -> None:
        """Tell `watcher` the type and the JSON of every change of a resource from now on."""
        self._watchers.setdefault(resource.plural, []).append(watcher)

    def since(self, resource: Resource, version: int) -> list[tuple[str, bytes]]:
        """Return type and JSON of what has changed of a resource after a version."""
        return [
            (change, raw)
            for number, plural, change, raw in self._history
            if plural == resource.plural and number > version
        ]

    def put(self, resource: Resource, body: dict[str, Any]) -> dict[str, Any]:
        """Do what another client does: create an object, or replace it."""
        metadata = body["metadata"]
        key = (resource.plural, metadata.get("namespace", ""), metadata["name"])
        is_new = key not in self.objects
        metadata.setdefault("uid", f"uid-{next(self._uids)}")
        metadata.setdefault("creationTimestamp", "2026-01-01T00:00:00Z")
        self._store(key, body, "ADDED" if is_new else "MODIFIED")
        return body

    def change(self, resource: Resource, name: str, namespace: str = "", **parts: Any) -> None:
        """Do what another client does: merge parts into an object."""
        key = (resource.plural, namespace, name)
        self._store(key, _merged(self.objects[key], parts), "MODIFIED")

    def remove(self, resource: Resource, name: str, namespace: str = "") -> None:
        """Do what another client does: make an object disappear."""
        key = (resource.plural, namespace, name)
        body = self.objects.pop(key)
        self._tell(key, "DELETED", body)

    def object(self, resource: Resource, name: str, namespace: str = "") -> dict[str, Any]:
        """Return an object as it is."""
        return self.objects[(resource.plural, namespace, name)]

    def verbs(self, verb: str) -> list[str]:
        """Return the names of the objects that `verb` was tried on."""
        return [name for each, name in self.writes if each == verb]

    async def create(
        self, resource: Resource, namespace: str | None, body: bytes, *, as_user: str = ""
    ) -> bytes:
        document = orjson.loads(body)
        if namespace is not None:
            document["metadata"].setdefault("namespace", namespace)
        target = ObjectKey(resource, namespace, document["metadata"]["name"])
        await self._admit("create", target, as_user)
        if self._key(target) in self.objects:
            raise ApiError("already exists", status=409, reason="AlreadyExists")
        return orjson.dumps(self.put(resource, document))

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Json = None) -> Json:
        await self._admit("patch", target, patch.as_user)
        stored = self._found(target)
        if patch.type is PatchType.JSON:
            raise ApiError("the fake knows no JSON patch", status=422, reason="Invalid")
        wanted = patch.document.get("metadata", {})
        for name in ("uid", "resourceVersion"):
            if name in wanted and wanted[name] != stored["metadata"][name]:
                raise ApiError("precondition failed", status=409, reason="Conflict")
        merge = _with_lists_replaced if patch.type is PatchType.MERGE else _merged
        merged = merge(stored, patch.document)
        if merged != stored:
            self._store(self._key(target), merged, "MODIFIED")
        return orjson.loads(orjson.dumps(self.objects[self._key(target)]))

    async def record(self, event: ObjectEvent) -> None:
        target = ObjectKey(EVENTS, event.namespace, event.name)
        if self._key(target) in self.objects:
            self.objects[self._key(target)] |= event.repetition()
            return
        await self.create(EVENTS, event.namespace, orjson.dumps(event.document()))

    async def renew(self, renewals: Sequence[Renewal]) -> Sequence[Renewed]:
        return [await self._renew(renewal) for renewal in renewals]

    async def _renew(self, renewal: Renewal) -> Renewed:
        document = renewal.lease.document()
        document["metadata"] = dict(document["metadata"])
        try:
            if renewal.version:
                document["metadata"]["resourceVersion"] = renewal.version
                target = ObjectKey(LEASES, NODE_LEASES, renewal.node)
                raw = await self.replace(target, orjson.dumps(document))
            else:
                raw = await self.create(LEASES, NODE_LEASES, orjson.dumps(document))
        except ApiError as e:
            return Renewed(error=e)
        found = read_lease(raw)
        return Renewed(version=found.version, found=found)

    async def replace(self, target: ObjectKey, body: bytes) -> bytes:
        await self._admit("replace", target)
        stored = self._found(target)
        document = orjson.loads(body)
        version = document["metadata"].get("resourceVersion")
        if version and version != stored["metadata"]["resourceVersion"]:
            raise ApiError("the object has been modified", status=409, reason="Conflict")
        document["metadata"]["uid"] = stored["metadata"]["uid"]
        return orjson.dumps(self.put(target.resource, document))

    async def delete(
        self,
        target: ObjectKey,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
        current: Json = None,
    ) -> None:
        await self._admit("delete", target)
        stored = self._found(target)
        if uid is not None and stored["metadata"]["uid"] != uid:
            raise ApiError("precondition failed", status=409, reason="Conflict")
        if stored["metadata"].get("finalizers"):
            going = {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
            self._store(self._key(target), _merged(stored, {"metadata": going}), "MODIFIED")
        else:
            self.remove(target.resource, target.name, target.namespace or "")

    async def get(self, target: ObjectKey) -> bytes:
        self.writes.append(("get", target.name))
        await self._admit_read()
        return orjson.dumps(self._found(target))

    async def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        field_selector: str = "",
        label_selector: str = "",
    ) -> Sequence[bytes]:
        self.writes.append(("list", field_selector))
        await self._admit_read()
        node = field_selector.removeprefix("spec.nodeName=")
        return [
            orjson.dumps(body)
            for (plural, _, _), body in self.objects.items()
            if plural == resource.plural
            and (not label_selector or _is_labelled(body, label_selector))
            and (not field_selector or body.get("spec", {}).get("nodeName") == node)
        ]

    async def pages(self, resource: Resource) -> AsyncIterator[Sequence[bytes]]:
        yield await self.list(resource)

    async def cached(self, resource: Resource, namespace: str) -> AsyncIterator[Sequence[bytes]]:
        yield await self.list(resource)

    async def resolve(self, api_version: str, kind: str) -> Resource:
        try:
            return self._resources[(api_version, kind)]
        except KeyError:
            raise NotFoundError(f"no kind '{kind}'") from None

    async def _admit(self, verb: str, target: ObjectKey, as_user: str = "") -> None:
        self.writes.append((verb, target.name))
        if as_user:
            self.users.append(as_user)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        if self.before_write is not None:
            self.before_write(target)
        await asyncio.sleep(0.001)
        self.at_once -= 1
        if self.refuse:
            raise self.refuse.pop(0)

    async def _admit_read(self) -> None:
        await asyncio.sleep(0)
        if self.refuse_reads:
            raise self.refuse_reads.pop(0)

    def _key(self, target: ObjectKey) -> tuple[str, str, str]:
        return (target.resource.plural, target.namespace or "", target.name)

    def _found(self, target: ObjectKey) -> dict[str, Any]:
        try:
            return self.objects[self._key(target)]
        except KeyError:
            raise ApiError("not found", status=404, reason="NotFound") from None

    def _store(self, key: tuple[str, str, str], body: dict[str, Any], change: str) -> None:
        self.objects[key] = body
        self._tell(key, change, body)

    def _tell(self, key: tuple[str, str, str], change: str, body: dict[str, Any]) -> None:
        self.version += 1
        body["metadata"]["resourceVersion"] = str(self.version)
        raw = orjson.dumps(body)
        self._history.append((self.version, key[0], change, raw))
        for watcher in self._watchers.get(key[0], ()):
            watcher(change, raw)


def _is_labelled(body: dict[str, Any], selector: str) -> bool:
    key, _, value = selector.partition("=")
    labels = body["metadata"].get("labels") or {}
    return key in labels and value in ("", labels[key])


def _merged(old: Any, patch: Any, name: str = "") -> Any:
    if isinstance(patch, list) and name in _LIST_KEYS and isinstance(old, list):
        key = _LIST_KEYS[name]
        known = {item[key]: item for item in old}
        for item in patch:
            known[item[key]] = _merged(known.get(item[key], {}), item)
        return list(known.values())
    if not isinstance(patch, dict) or not isinstance(old, dict):
        return patch
    result = dict(old)
    for field, value in patch.items():
        if value is None:
            result.pop(field, None)
        else:
            empty: Any = {} if isinstance(value, dict) else None
            result[field] = _merged(old.get(field, empty), value, field)
    return result


def _with_lists_replaced(old: Any, patch: Any) -> Any:
    """Merge as RFC 7396 says: a list takes the place of another."""
    if not isinstance(patch, dict):
        return patch
    result = dict(old) if isinstance(old, dict) else {}
    for field, value in patch.items():
        if value is None:
            result.pop(field, None)
        else:
            result[field] = _with_lists_replaced(result.get(field), value)
    return result
