"""An etcd in memory for pods and their Events, and an API server that writes to it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from kwokctl.dataplane.api_plane import ApiPlane
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.events.event_bytes import stored_value
from kwokctl.dataplane.events.object_event import ObjectEvent
from kwokctl.dataplane.objects.stored_values import decoded
from kwokctl.dataplane.port import ObjectKey, Patch
from kwokctl.errors import ApiError
from kwokctl.json_value import Json
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.names import new_uid
from kwokctl.kube.patching.apply_patch import apply_patch
from kwokctl.kube.resource import EVENTS, NAMESPACES, PODS
from kwokctl.kube.statuses import check_change
from kwokctl.kube.stored_json import value_of
from kwokctl.kube.transport.pool import Pool, Response
from tests.support.memory_etcd import MemoryEtcd

KEYS = Keys("/registry")
_NAMESPACE = 101
"""The revision of the namespace, which is the first write."""
_EVENTS = KEYS.folder(EVENTS)
_UID = re.compile(rb"\*\$[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Field 5 of the metadata, which stand at the start of a message of protobuf, and its 36 bytes."""


class Etcd(MemoryEtcd):
    """Keeps all that was ever written."""

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[bytes, list[bytes]] = {}
        assert self.put(KEYS.key(NAMESPACES, None, "default"), b"active") == _NAMESPACE

    def _put(self, key: bytes, value: bytes, lease: int) -> None:
        super()._put(key, value, lease)
        self.history.setdefault(key, []).append(value)

    def events(self) -> Mapping[bytes, Sequence[Json]]:
        """Return the Events that were written, by their keys, without their random uids."""
        return {
            key: [_without_uid(decoded(value).document) for value in values]
            for key, values in self.history.items()
            if key.startswith(_EVENTS)
        }

    def all_written(self) -> Mapping[bytes, Sequence[bytes]]:
        """Return all that was written to each key, in its order, Events without their random uids."""
        return {
            key: [_cut_uid(value) for value in values] if key.startswith(_EVENTS) else values
            for key, values in self.history.items()
        }


class Namespaces(Pool):
    def __init__(self) -> None:
        super().__init__(Access(server="http://127.0.0.1:1"))

    async def request(self, method: str, path: str, **_: Any) -> Response:
        return Response(200, b'{"metadata":{"resourceVersion":"%d"}}' % _NAMESPACE, [])


class Api(ApiPlane):
    """An API server for pods that writes to an etcd in memory."""

    def __init__(self, etcd: Etcd) -> None:
        super().__init__(Namespaces())
        self._etcd = etcd

    async def record(self, event: ObjectEvent) -> None:
        lease = await self._etcd.grant(3660)
        key = KEYS.key(EVENTS, event.namespace, event.name)
        self._etcd.put(key, stored_value(event, new_uid(), ""), lease)

    async def patch(self, target: ObjectKey, patch: Patch, *, current: Json = None) -> Json:
        key = KEYS.key(PODS, target.namespace, target.name)
        value = orjson.loads(self._etcd.stored[key].value)
        seen = with_version(value, self._etcd.stored[key].mod_revision)
        changed = apply_patch(seen, patch.document, patch.type, "Pod")
        if problem := check_change(PODS, seen, changed):
            raise ApiError(problem, status=422, reason="Invalid")
        revision = self._etcd.put(key, value_of(changed, "v1", "Pod"))
        return with_version(changed, revision)

    async def delete(self, target: ObjectKey, **_: Any) -> None:
        key = KEYS.key(PODS, target.namespace, target.name)
        if self._etcd.stored.pop(key, None) is None:
            raise ApiError("gone", status=404, reason="NotFound")


def with_version(value: Json, version: int) -> Json:
    """Return an object as it is in a version."""
    return {**value, "metadata": {**value["metadata"], "resourceVersion": str(version)}}


def _cut_uid(event: bytes) -> bytes:
    """Cut the uid out of a stored Event: decoding thousands of them takes longer than playing them."""
    cut, count = _UID.subn(b"", event, count=1)
    assert count
    return cut


def _without_uid(event: Json) -> Json:
    metadata = {name: value for name, value in event["metadata"].items() if name != "uid"}
    return {**event, "metadata": metadata}
