"""Replays a recording in etcd: first the objects of the beginning, then each change at its time."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import orjson

from kwokctl.clusters.direct_etcd.access import ObjectAccess
from kwokctl.clusters.direct_etcd.documents import GivenObject, GivenObjects
from kwokctl.clusters.direct_etcd.player import StoredPlayer
from kwokctl.clusters.direct_etcd.reading import WantedObjects
from kwokctl.clusters.direct_etcd.writing import (
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
from kwokctl.clusters.object_files.recording.clock import ReplayClock
from kwokctl.clusters.object_files.recording.playing import play_in_time
from kwokctl.clusters.object_files.recording.replay import Controls, Replayed
from kwokctl.clusters.object_files.times import moment
from kwokctl.dataplane.objects.resources import StoredResource
from kwokctl.errors import SnapshotError
from kwokctl.json_value import Json
from kwokctl.kube.resource import Resource
from kwokctl.kube.served_kinds import ServedKind, ServedKinds
from kwokctl.progress import Progress

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
