"""Records the objects in etcd and their changes, in the format of `snapshot record`."""

import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import msgspec

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects, pages_at
from kwokctl.clusters.object_files.exporting.part_file import PartFile
from kwokctl.clusters.object_files.object_documents import document_of
from kwokctl.clusters.object_files.recording.kept_part import keep_part
from kwokctl.clusters.object_files.recording.recorder import KindHistory
from kwokctl.clusters.object_files.time_offsets import relative
from kwokctl.dataplane.objects.merged_lists import lists_of_kind
from kwokctl.dataplane.objects.resources import DEFINITION, StoredResource, StoredResources
from kwokctl.dataplane.objects.stored_values import UndecodableError, decoded, json_value
from kwokctl.errors import KwokctlError
from kwokctl.etcd.kv.kv import KeyChange, KeyValue, prefix_end
from kwokctl.etcd.marks.present import current_revision
from kwokctl.json_value import Json
from kwokctl.kube.collections.watch import Event, EventType
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress, Step
from kwokctl.tasks import until_its_end

_CHUNK = 500


class StoredRecording(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `record_stored`."""

    path: Path
    size: int
    objects: int
    """The number of objects at the beginning."""
    changes: int
    faults: tuple[str, ...]
    """The objects that could not be recorded completely, with the reasons."""


class StoredRecordingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The selection of objects to record, and the file for them."""

    path: Path
    only_snapshot: bool = False
    """Whether to record no changes."""
    force: bool = False
    """Whether to replace an existing file."""
    seconds: float | None = None
    """The duration; None to record until it is cancelled."""


async def record_stored(
    access: ObjectAccess, request: StoredRecordingRequest, progress: Progress
) -> StoredRecording:
    """Write all objects, then each change; it usually ends by a cancellation.

    Objects that expire with a lease of etcd are left out: a replay would keep them for ever.
    """
    recording = _Recording(access, request, progress)
    file = PartFile(request.path, "", force=request.force, resumes=False)
    with file, progress.step("Recording", unit="changes") as step:
        work = recording.run(file, step)
        try:
            await until_its_end(work, request.seconds, has_begun=lambda: recording.has_begun)
        except KwokctlError:
            if recording.has_begun:
                parts = recording.objects, recording.changes
                keep_part(file, request.path, parts, progress)
            raise
        size = file.finish()
    return StoredRecording(
        path=request.path,
        size=size,
        objects=recording.objects,
        changes=recording.changes,
        faults=tuple(recording.history.faults),
    )


class _Recording:
    def __init__(
        self, access: ObjectAccess, request: StoredRecordingRequest, progress: Progress
    ) -> None:
        self._access = access
        self._request = request
        self._progress = progress
        self.history = StoredHistory(access.prefix, access.resources)
        self.has_begun = False
        self.objects = self.changes = 0

    async def run(self, file: PartFile, step: Step) -> None:
        kv, start = self._access.kv, time.time_ns()
        revision, began = await current_revision(kv), time.monotonic_ns()
        pages = pages_at(self._access, WantedObjects(), revision, chunk=_CHUNK)
        async for page in pages:
            found = [document_of(each) for item in page for each in self.history.begin(item)]
            file.write([relative(each, start) for each in found])
            self.objects += len(found)
        self.has_begun = True
        if self._request.only_snapshot:
            return
        self._progress.note(f"recording {self.objects:,} objects; end it with Ctrl-C")
        first = self._access.prefix.encode()
        watched = kv.watch(first, prefix_end(first), since=revision + 1)
        async with aclosing(watched):
            async for batch in watched:
                since = time.monotonic_ns() - began
                changed = [each for change in batch for each in self.history.take(change, since)]
                file.write([relative(each, start) for each in changed])
                self.changes += len(changed)
                step.advance(len(changed))


class _Known(NamedTuple):
    kind: KindHistory
    namespace: str
    name: str

    @property
    def metadata(self) -> dict[str, Json]:
        return {"namespace": self.namespace, "name": self.name}


class StoredHistory(msgspec.Struct):
    """The last known values of an etcd's objects."""

    prefix: str
    """The prefix of all keys, ending with a slash."""
    resources: StoredResources
    faults: dict[str, None] = msgspec.field(default_factory=dict)
    """The values that could not be read, with the reasons, once each."""
    _kinds: dict[tuple[str, str], KindHistory] = msgspec.field(default_factory=dict)
    _known: dict[bytes, _Known] = msgspec.field(default_factory=dict)
    """The last known values, by key."""

    def begin(self, item: KeyValue) -> Iterator[dict[str, Json]]:
        """Yield the document of an object of the beginning; nothing for a value that is not such an object."""
        document = self._read(item)
        if document is not None:
            known = self._known[item.key]
            known.kind.document(_event(EventType.ADDED, document), 0)
            yield known.kind.objects[known.namespace, known.name]

    def take(self, change: KeyChange, since: int) -> Iterator[bytes]:
        """Yield the document of a change, `since` nanoseconds after the beginning."""
        if change.is_deleted:
            known = self._known.pop(change.item.key, None)
            gone: dict[str, Json] = {"metadata": known.metadata} if known else {}
            event = _event(EventType.DELETED, gone)
        else:
            document = self._read(change.item)
            known = self._known[change.item.key] if document else None
            event = _event(EventType.MODIFIED, document or {})
        found = known.kind.document(event, since) if known else None
        if found is not None:
            yield found

    def _read(self, item: KeyValue) -> dict[str, Json] | None:
        """Read an object whose key is that of its kind, and remember it."""
        key = item.key.decode(errors="replace")
        if item.lease:
            return None
        try:
            stored = decoded(item.value)
        except UndecodableError as e:
            self.faults[f"'{key}' is not recorded: {e}"] = None
            return None
        if stored.unknown:
            lost = ", ".join(sorted(stored.unknown))
            self.faults[f"'{key}' has fields that are not recorded: {lost}"] = None
        document = stored.document
        if document.get("kind") == DEFINITION:
            self.resources = self.resources.defining([document])
        resource = self._resource(key, document)
        if resource is None:
            return None
        metadata = document["metadata"]
        kind = self._kind(resource, document)
        self._known[item.key] = _Known(kind, metadata.get("namespace") or "", metadata["name"])
        return document

    def _resource(self, key: str, document: dict[str, Json]) -> StoredResource | None:
        """Return the resource of an object; None for values that only the API server uses."""
        metadata = document.get("metadata") or {}
        name, namespace = metadata.get("name"), metadata.get("namespace")
        below = f"{namespace}/{name}" if namespace else name
        words = (str(document.get(word, "")) for word in ("apiVersion", "kind"))
        try:
            found = self.resources.of_kind(*words)
        except KwokctlError as e:
            self.faults[f"'{key}' is not recorded: {e}"] = None
            return None
        return found if name and key == f"{self.prefix}{found.folder}/{below}" else None

    def _kind(self, resource: StoredResource, document: dict[str, Json]) -> KindHistory:
        of = (document["apiVersion"], document["kind"])
        if of not in self._kinds:
            group, _, version = of[0].rpartition("/")
            served = Resource(
                group, version, resource.plural, resource.kind, namespaced=resource.is_namespaced
            )
            self._kinds[of] = KindHistory(served, lists_of_kind(*of))
        return self._kinds[of]


def _event(kind: EventType, document: dict[str, Json]) -> Event[object]:
    return Event(kind, None, msgspec.Raw(json_value(document)))
