"""Writes pods of a file to etcd, past the API server, if it would store them unchanged.

The first of similar pods goes through the API. If it is stored as it is in the file, the API server would
store the others unchanged as well. Pods that cannot be written this way also go through the API.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

import msgspec

from kwokctl.clusters.object_files.restoring.checking import RestoreItem
from kwokctl.clusters.object_files.restoring.likeness import is_sound, likeness
from kwokctl.clusters.object_files.restoring.loading import ObjectLoader
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids, sent
from kwokctl.clusters.scaling.set_admission import SetAdmission, watched
from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.config.data_path import Choice
from kwokctl.dataplane.etcd_keys import Keys
from kwokctl.dataplane.objects.protobuf_objects import RepeatedParts, ShapeError
from kwokctl.dataplane.objects.stored_values import UndecodableError, decoded, value_with
from kwokctl.dataplane.pacing import write_until_shown
from kwokctl.dataplane.port import FEWEST_COPIES
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import Compare, Put
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.kube.names import new_uid
from kwokctl.kube.resource import NAMESPACES, PODS
from kwokctl.kube.stored_json import MetadataInJson, ObjectInJson


class _Pod(msgspec.Struct, frozen=True):
    item: RestoreItem
    value: ObjectInJson


class DirectPods:
    """Restores groups of objects, with bulk writes for many pods of a namespace."""

    def __init__(self, reach: Reach, loader: ObjectLoader, uids: NewUids) -> None:
        """Let `loader` write the objects that go through the API."""
        self._reach = reach
        self._loader = loader
        self._uids = uids
        self._keys = Keys(reach.prefix)
        self._parts = RepeatedParts()
        self._view = ApiView(reach.client, reach.scope)
        options = reach.saved.options.data_path
        self._insists = options.path == "etcd"
        self._is_allowed = reach.saved.data_path().path == "etcd"

    async def load(self, items: Sequence[RestoreItem]) -> None:
        """Write objects that do not depend on each other."""
        of = defaultdict(list)
        for item in items:
            of[item.object.namespace if item.resource == PODS else ""].append(item)
        for namespace, together in of.items():
            if namespace and self._is_allowed and len(together) >= FEWEST_COPIES:
                await self._in_namespace(namespace, together)
            else:
                await self._loader.load(together)

    async def _in_namespace(self, namespace: str, items: Sequence[RestoreItem]) -> None:
        admission = SetAdmission(
            self._reach.client.pool,
            PODS,
            namespace,
            insists=self._insists,
            leave=lambda _: None,
            report=self._note_api,
        )
        rest = [item for item in items if not self._is_owned(item)]
        async with watched(admission):
            if admission.why is not None:
                self._note_api(admission.why)
            for alike in self._alike(items):
                rest += await self._written(alike, admission)
        await self._loader.load(rest)

    def _note_api(self, why: str) -> None:
        self._reach.home.progress.note(str(Choice(path="api", why=why)))

    def _is_owned(self, item: RestoreItem) -> bool:
        return not self._uids.missing(owner.uid for owner in item.object.owners)

    def _alike(self, items: Sequence[RestoreItem]) -> Iterator[list[_Pod]]:
        """Yield groups of similar pods, without those whose owners are missing."""
        found: defaultdict[bytes, list[_Pod]] = defaultdict(list)
        for item in items:
            if self._is_owned(item):
                value = sent(self._uids.followed(item.object.body))
                found[likeness(value) if is_sound(value) else b""].append(_Pod(item, value))
        yield from found.values()

    async def _written(self, alike: list[_Pod], admission: SetAdmission) -> list[RestoreItem]:
        """Write similar pods to etcd, and return those that must go through the API."""
        is_left = admission.why is not None or not is_sound(alike[0].value)
        if is_left or len(alike) < FEWEST_COPIES:
            return [pod.item for pod in alike]
        first, *others = alike
        before = self._loader.counts.created
        await self._loader.load([first.item])
        is_new = self._loader.counts.created > before
        proven = await self._proven(first) if is_new else None
        if proven is None:
            return [pod.item for pod in others]
        left: list[RestoreItem] = []

        async def write(pod: _Pod) -> tuple[Write, int] | None:
            written = await self._one(pod, proven, admission)
            if written is None:
                left.append(pod.item)
            return written

        await write_until_shown(others, write, self._view.wait_shown)
        return left

    async def _proven(self, pod: _Pod) -> MetadataInJson | None:
        """Return the stored metadata of a pod if it is stored as it is in the file, else None."""
        found = await self._reach.kv.get(self._key(pod))
        if found is None:
            return None
        with suppress(ShapeError, UndecodableError):
            metadata: MetadataInJson = decoded(found.value).document["metadata"]
            whole = _whole(
                pod.value, metadata, uid=metadata["uid"], now=metadata["creationTimestamp"]
            )
            whole["metadata"]["managedFields"] = metadata.get("managedFields", [])
            if value_with(whole) == found.value:
                return metadata
        return None

    async def _one(
        self, pod: _Pod, proven: MetadataInJson, admission: SetAdmission
    ) -> tuple[Write, int] | None:
        """Write a pod that does not exist yet; None if it must go through the API."""
        uid, now = new_uid(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        try:
            whole = _whole(pod.value, proven, uid=uid, now=now)
            value = value_with(whole, self._parts.encoded)
        except ShapeError:
            return None
        if admission.why is not None:
            return None
        key = self._key(pod)
        space = self._keys.key(NAMESPACES, None, pod.item.object.namespace)
        # An object written to a namespace after its deletion would never be collected.
        unchanged = Compare(space, admission.namespace_version)
        try:
            revision = await self._reach.store.add([Put(key, value)], [unchanged])
        except EtcdConflictError:
            return None
        self._loader.note_created(pod.item, uid)
        return Write(key, value, 0), revision

    def _key(self, pod: _Pod) -> bytes:
        return self._keys.key(PODS, pod.item.object.namespace, pod.item.object.name)


def _whole(value: ObjectInJson, proven: MetadataInJson, *, uid: str, now: str) -> ObjectInJson:
    """Return an object with the metadata that the API server would give it."""
    metadata: MetadataInJson = {**value["metadata"], "uid": uid, "creationTimestamp": now}
    if "generation" in proven:
        metadata["generation"] = proven["generation"]
    return {**value, "metadata": metadata}
