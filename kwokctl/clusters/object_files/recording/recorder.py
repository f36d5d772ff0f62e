"""Watches kinds, and turns what happens into documents."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol, Self

import msgspec

from kwokctl.clusters.object_files.object_documents import document_of, listed_object
from kwokctl.clusters.object_files.recording.actions import Method, action_of
from kwokctl.clusters.object_files.recording.patch_lists import UNKNOWN, PatchSchema
from kwokctl.json_value import Json
from kwokctl.kube.collections.known_objects import metadata_of
from kwokctl.kube.collections.watch import Event, EventType, watch
from kwokctl.kube.resource import Resource
from kwokctl.kube.transport.pool import Pool
from kwokctl.tasks import beside

_REPLACE = {"$patch": "replace"}
_REMOVED = "$deleteFromPrimitiveList/"


class KnownLists(Protocol):
    """The lists of an object that are merged, and the key of their items."""

    @property
    def is_merged(self) -> bool:
        """Whether the items of this list are merged with those that are there."""

    def field(self, name: str) -> Self:
        """Return what is known of a field, or of the values of a map."""


def two_way_patch(
    old: Mapping[str, Json], new: Mapping[str, Json], schema: KnownLists
) -> dict[str, Json]:
    """Return the strategic merge patch from `old` to `new`, empty if they are equal.

    Where nothing is known of the lists, it is a JSON merge patch.
    """
    patch: dict[str, Json] = {name: None for name in old if name not in new}
    for name, value in new.items():
        before = old.get(name)
        if name in old and before == value:
            continue
        if isinstance(before, dict) and isinstance(value, dict):
            patch[name] = two_way_patch(before, value, schema.field(name))
        elif isinstance(value, list) and schema.field(name).is_merged:
            patch |= _merged(name, before if isinstance(before, list) else [], value)
        else:
            patch[name] = value
    return patch


def _merged(name: str, old: Sequence[Json], new: Sequence[Json]) -> dict[str, Json]:
    if any(isinstance(item, dict) for item in (*old, *new)):
        return {name: [_REPLACE, *new]}
    found: dict[str, Json] = {}
    if added := [item for item in new if item not in old]:
        found[name] = added
    if removed := [item for item in old if item not in new]:
        found[_REMOVED + name] = removed
    return found


_Key = tuple[str, str]
Scrub = Callable[[dict[str, Json]], dict[str, Json] | None]
"""Makes of an object what may be written; None if nothing may."""


def unchanged(value: dict[str, Json]) -> dict[str, Json]:
    """Return an object as it is."""
    return value


class KindHistory(msgspec.Struct):
    """The objects of a kind as they were last seen, and may be written."""

    resource: Resource
    schema: KnownLists = UNKNOWN
    scrub: Scrub = unchanged
    objects: dict[_Key, dict[str, Json]] = msgspec.field(default_factory=dict)

    def document(self, event: Event[object], since: int) -> bytes | None:
        """Return what has happened as a document; None if nothing is different."""
        seen = metadata_of(event.raw).metadata
        key = (seen.namespace, seen.name)
        if event.type is EventType.DELETED:
            return self._deleted(key, since)
        value, before = self.scrub(listed_object(event.raw, self.resource)), self.objects.get(key)
        if value is None:
            return None
        self.objects[key] = value
        if before is None:
            return self._changed(value, Method.CREATE, value, since)
        patch = two_way_patch(before, value, self.schema)
        return self._changed(value, Method.PATCH, patch, since) if patch else None

    def _deleted(self, key: _Key, since: int) -> bytes | None:
        before = self.objects.pop(key, None)
        if before is None:
            return None
        action = action_of(self.resource, before["metadata"], Method.DELETE, since)
        return document_of(action.document())

    def _changed(
        self, value: Mapping[str, Json], method: Method, template: dict[str, Json], since: int
    ) -> bytes:
        action = action_of(self.resource, value["metadata"], method, since)
        return document_of({**action.document(), "template": template})


class Recorder:
    """Follows kinds from one moment on."""

    def __init__(
        self,
        pool: Pool,
        resources: Sequence[Resource],
        schemas: Mapping[Resource, PatchSchema],
        scrub: Scrub,
        now: Callable[[], int],
    ) -> None:
        """Watch through `pool`; `now` returns nanoseconds, from any beginning."""
        self._pool = pool
        self._kinds = [KindHistory(each, schemas.get(each, UNKNOWN), scrub) for each in resources]
        self._now = now
        self._start = now()
        self._begun = asyncio.Event()
        self._initial: list[list[dict[str, Json]]] = []
        self._synced: set[Resource] = set()
        self._documents: asyncio.Queue[bytes] = asyncio.Queue()

    async def documents(self) -> AsyncIterator[list[bytes]]:
        """Yield first all objects that there are, in the order of their kinds, then what happens."""
        async with beside(*map(self._follow, self._kinds)):
            await self._begun.wait()
            for values in self._initial:
                yield [document_of(value) for value in values]
            while True:
                found = [await self._documents.get()]
                while not self._documents.empty():
                    found.append(self._documents.get_nowait())
                yield found

    async def _follow(self, kind: KindHistory) -> None:
        events = watch(self._pool, kind.resource, decoder=_nothing)
        async with aclosing(events):
            async for batch in events:
                for event in batch:
                    self._take(kind, event)

    def _take(self, kind: KindHistory, event: Event[object]) -> None:
        if event.type is EventType.SYNCED:
            self._synced.add(kind.resource)
            if len(self._synced) == len(self._kinds) and not self._begun.is_set():
                self._initial = [list(each.objects.values()) for each in self._kinds]
                self._begun.set()
            return
        document = kind.document(event, self._now() - self._start)
        # Until then what happens is part of what there is in the beginning.
        if document is not None and self._begun.is_set():
            self._documents.put_nowait(document)


def _nothing(_raw: object) -> object:
    """Read nothing of an event but what is needed later."""
    return None
