"""Replays a recording in a cluster: first what there was, then what happened, in its time."""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from kwokctl.clusters.etcd_quota import demand_writable
from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.recording.actions import ReplayAction, checked_actions, in_time
from kwokctl.clusters.object_files.recording.player import RecordingPlayer
from kwokctl.clusters.object_files.recording.replay_clock import ReplayClock
from kwokctl.clusters.object_files.restoring.checking import RestoreItem, checked, kinds_of
from kwokctl.clusters.object_files.restoring.restore import controllers_paused, load_items
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.errors import SnapshotError
from kwokctl.kube.served_kinds import ServedKind, served_kinds
from kwokctl.model import ClusterName

Controls = Callable[[ReplayClock], AbstractContextManager[None]]
"""Lets a person hold the clock, and let it run faster or slower, as long as a block runs."""


class ReplayRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The request of a replay: which file, and at which speed."""

    path: Path
    speed: float = 1.0
    with_snapshot: bool = True
    """Whether the objects of the beginning are restored first."""


class Replayed(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a replay."""

    path: Path
    objects: int
    """Objects of the beginning that were created or updated."""
    changes: int
    failed: tuple[str, ...]
    """The changes that were refused, with the reasons."""


async def replay_recording(
    home: Home, name: ClusterName, request: ReplayRequest, controls: Controls
) -> Replayed:
    """Do again what was recorded; scheduler and controllers are paused until its end.

    All of the file is read and checked before anything is touched.
    """
    with alone(home.workdir, name):
        async with reached(home, name) as reach:
            items, actions = await _read(reach, request)
            await demand_writable(reach.kv, name)
            async with controllers_paused(reach):
                return await _replay(reach, request, items, actions, controls)


async def foreseen_replay(
    home: Home, name: ClusterName, request: ReplayRequest
) -> tuple[int, int, float]:
    """Return how many objects and changes `replay_recording` would write, in how many seconds."""
    async with reached(home, name) as reach:
        items, actions = await _read(reach, request)
    return len(items), len(actions), actions[-1].action.seconds / request.speed


async def _read(
    reach: Reach, request: ReplayRequest
) -> tuple[list[RestoreItem], list[ReplayAction]]:
    with reach.home.progress.step("Reading the recording"):
        file, served, now = (
            ObjectFile(request.path),
            await served_kinds(reach.client),
            time.time_ns(),
        )
        items = checked(file, served, (), now) if request.with_snapshot else []
        actions = list(checked_actions(file, served, now, _defined(items)))
    if not actions:
        raise SnapshotError(
            f"'{request.path}' holds no changes",
            hint="record some with: kwokctl snapshot record; a snapshot is restored by: "
            "kwokctl snapshot restore --format k8s",
        )
    return items, in_time(actions)


def _defined(items: Iterable[RestoreItem]) -> dict[tuple[str, str], ServedKind]:
    kinds = (kind for item in items if item.is_definition for kind in kinds_of(item.object))
    return {(kind.resource.api_version, kind.resource.plural): kind for kind in kinds}


async def _replay(
    reach: Reach,
    request: ReplayRequest,
    items: list[RestoreItem],
    actions: list[ReplayAction],
    controls: Controls,
) -> Replayed:
    uids = NewUids()
    loaded = await load_items(reach, items, uids)
    clock = ReplayClock(request.speed, asyncio.get_running_loop().time)
    title = "Replaying"
    with (
        reach.home.progress.step(title, total=len(actions), unit="changes") as step,
        controls(clock),
    ):
        player = RecordingPlayer(reach.client, uids, clock, step)
        await player.play(actions)
    return Replayed(
        path=request.path,
        objects=loaded.created + loaded.updated,
        changes=player.counts.done,
        failed=(*loaded.failed, *loaded.skipped, *player.counts.failed),
    )
