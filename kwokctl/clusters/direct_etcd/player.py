"""Replays the changes of a recording in etcd; `object_files.recording.player` does so through an API server."""

from collections.abc import Mapping

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.writing import DROPPED, PreparedObject
from kwokctl.clusters.object_files.recording.actions import Method, ReplayAction
from kwokctl.dataplane.objects.merged_lists import lists_of_kind
from kwokctl.dataplane.objects.stored import JSON, UndecodableError, decoded, json_value, value_with
from kwokctl.errors import (
    EtcdConflictError,
    EtcdGoneError,
    EtcdRefusedError,
    KwokctlError,
    NotFoundError,
)
from kwokctl.etcd.kv.kv import KeyValue, Put
from kwokctl.json_value import Json
from kwokctl.kube.patching.directed_merge import directed_merge
from kwokctl.progress import Step


class StoredPlayer:
    """Replays changes in one etcd."""

    def __init__(
        self, access: ObjectAccess, created: Mapping[int, PreparedObject], step: Step
    ) -> None:
        """Write to an etcd; `created` has the created objects by their lines, and `step` is called for each change."""
        self.done = 0
        self.failed: list[str] = []
        self._access = access
        self._store = access.store
        self._created = created
        self._step = step

    async def do(self, action: ReplayAction) -> None:
        """Write one change; a change that is impossible is noted, but an error of etcd is raised."""
        try:
            await self._do(action)
            self.done += 1
        except (EtcdGoneError, EtcdRefusedError):
            raise
        except KwokctlError as e:
            self.failed.append(f"line {action.line}, {action.label}: {e}")
        self._step.advance()

    async def _do(self, action: ReplayAction) -> None:
        match action.action.method:
            case Method.CREATE:
                created = self._created[action.line]
                await self._store.put_over(created.key, created.value)
            case Method.PATCH:
                while not await self._is_patched(action):
                    pass
            case Method.DELETE:
                await self._store.discard(key_of(self._access, action))

    async def _is_patched(self, action: ReplayAction) -> bool:
        """Apply a patch to the present object; False if another client has written it meanwhile."""
        key = key_of(self._access, action)
        found = await self._store.get(key)
        if found is None:
            raise NotFoundError("there is no such object in etcd")
        put = Put(key, patched_value(found, action.action.template or {}), found.lease)
        try:
            await self._store.change(put, found.mod_revision)
        except EtcdConflictError:
            return False
        return True


def patched_value(item: KeyValue, patch: Mapping[str, Json]) -> bytes:
    """Return an object's value with a strategic merge patch applied, in the same encoding.

    Raises UndecodableError for an object with unknown fields, which would be lost.
    """
    stored = decoded(item.value)
    if stored.unknown:
        lost = ", ".join(sorted(stored.unknown))
        raise UndecodableError(f"it has fields that kwokctl does not know: {lost}")
    kind = (str(stored.document["apiVersion"]), str(stored.document["kind"]))
    document = directed_merge(stored.document, patch, lists_of_kind(*kind))
    metadata = document.get("metadata") or {}
    document["metadata"] = {name: each for name, each in metadata.items() if name not in DROPPED}
    return json_value(document) if stored.media_type == JSON else value_with(document)


def key_of(access: ObjectAccess, action: ReplayAction) -> bytes:
    """Return the key of a change's object."""
    target, resource = action.action.target, action.kind.resource
    folder = access.resources.of_kind(resource.api_version, resource.kind).folder
    below = f"{target.namespace}/" if target.namespace else ""
    return f"{access.prefix}{folder}/{below}{target.name}".encode()
