"""Replays a recording in etcd: first the objects of the beginning, then each change at its time.

`object_files.recording.player` does so through an API server.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import orjson

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.finding import WantedObjects
from kwokctl.clusters.direct_etcd.given_objects import GivenObject, GivenObjects
from kwokctl.clusters.direct_etcd.writing import (
    DROPPED,
    PreparedObject,
    prepared_objects,
    with_definitions,
    write_objects,
)
from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.recording.actions import (
    Method,
    ReplayAction,
    checked_actions,
    in_time,
)
from kwokctl.clusters.object_files.recording.replay import Controls, Replayed
from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock, play_in_time
from kwokctl.clusters.object_files.time_offsets import moment
from kwokctl.dataplane.objects.merged_lists import lists_of_kind
from kwokctl.dataplane.objects.resources import StoredResource
from kwokctl.dataplane.objects.stored_values import (
    JSON,
    UndecodableError,
    decoded,
    json_value,
    value_with,
)
from kwokctl.errors import (
    EtcdConflictError,
    EtcdGoneError,
    EtcdRefusedError,
    KwokctlError,
    NotFoundError,
    SnapshotError,
)
from kwokctl.etcd.kv.kv import KeyValue, Put
from kwokctl.json_value import Json
from kwokctl.kube.patching.directed_merge import directed_merge
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import ServedKind, ServedKinds
from kwokctl.progress import Progress, Step

_ALL = WantedObjects(is_everywhere=True)


class StoredReplayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The recording to replay, and the speed."""

    path: Path
    only_snapshot: bool = False
    """Whether to write only the objects of the beginning."""
    speed: float = 1.0


class StoredReplay(msgspec.Struct, frozen=True, kw_only=True):
    """A recording that was read and checked: all of it can be written."""

    access: ObjectAccess
    """The etcd, with the kinds that the recording's CustomResourceDefinitions add."""
    objects: list[PreparedObject]
    """The objects of the beginning."""
    actions: list[ReplayAction]
    """The changes in the order of their times."""
    created: Mapping[int, PreparedObject]
    """The objects that changes create, by their lines."""


async def read_replay(access: ObjectAccess, request: StoredReplayRequest) -> StoredReplay:
    """Read and check a whole recording; an error names the line that cannot be written."""
    file, now = ObjectFile(request.path), time.time_ns()
    access = with_definitions(access, _definitions(file, now))
    text = moment(now).decode()
    given = GivenObjects(all=tuple(_given(file, now)), json_keys=frozenset())
    objects = await prepared_objects(access, given, _ALL, now=text)
    if request.only_snapshot:
        return StoredReplay(access=access, objects=objects, actions=[], created={})
    actions = in_time(checked_actions(file, _served(access), now, {}))
    new = [each for each in actions if each.action.method is Method.CREATE]
    templates = GivenObjects(
        all=tuple(_template(file, each) for each in new), json_keys=frozenset()
    )
    prepared = await prepared_objects(access, templates, _ALL, now=text)
    created = {each.line: found for each, found in zip(new, prepared, strict=True)}
    if not objects and not actions:
        raise SnapshotError(f"'{request.path}' holds neither objects nor changes")
    return StoredReplay(access=access, objects=objects, actions=actions, created=created)


async def replay_stored(
    access: ObjectAccess, request: StoredReplayRequest, controls: Controls, progress: Progress
) -> Replayed:
    """Write a recording past the API server; no component is paused meanwhile.

    The whole file is read and checked before anything is written.
    """
    with progress.step("Reading the recording"):
        replay = await read_replay(access, request)
    await write_objects(replay.access, replay.objects)
    clock = ReplayClock(request.speed, asyncio.get_running_loop().time)
    with (
        progress.step("Replaying", total=len(replay.actions), unit="changes") as step,
        controls(clock),
    ):
        player = StoredPlayer(replay.access, replay.created, step)
        await play_in_time(replay.actions, clock, player.do)
    return Replayed(
        path=request.path,
        objects=len(replay.objects),
        changes=player.done,
        failed=tuple(player.failed),
    )


async def foreseen_replay(
    access: ObjectAccess, request: StoredReplayRequest
) -> tuple[int, int, float]:
    """Return the numbers of objects and changes that `replay_stored` would write, and its duration in seconds."""
    replay = await read_replay(access, request)
    seconds = replay.actions[-1].action.seconds / request.speed if replay.actions else 0.0
    return len(replay.objects), len(replay.actions), seconds


def _given(file: ObjectFile, now: int) -> Iterator[GivenObject]:
    for each in file.objects(now):
        place = f"'{file.path}', line {each.line}"
        yield GivenObject(place=place, document=orjson.loads(each.body))


def _template(file: ObjectFile, action: ReplayAction) -> GivenObject:
    place = f"'{file.path}', line {action.line}"
    resource = action.kind.resource
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return GivenObject(place=place, document={**head, **(action.action.template or {})})


def _definitions(file: ObjectFile, now: int) -> Iterator[Mapping[str, Json]]:
    """Yield the objects that may define kinds: all of the beginning, and all that changes create."""
    for each in file.objects(now):
        yield orjson.loads(each.body)
    for _, value in file.actions(now):
        template = value.get("template")
        if isinstance(template, Mapping):
            yield template


def _served(access: ObjectAccess) -> ServedKinds:
    return ServedKinds(
        _kind(each, version) for each in access.resources.all for version in each.versions
    )


def _kind(resource: StoredResource, api_version: str) -> ServedKind:
    group, _, version = api_version.rpartition("/")
    return ServedKind(
        resource=Resource(
            group, version, resource.plural, resource.kind, namespaced=resource.is_namespaced
        ),
        names=frozenset(resource.names),
        verbs=frozenset(),
        has_status=False,
    )


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
