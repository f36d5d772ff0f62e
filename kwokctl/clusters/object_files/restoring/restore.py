"""Restores objects of a file into a cluster, and keeps the cluster's other objects."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import msgspec

from kwokctl.clusters.etcd_quota import demand_writable
from kwokctl.clusters.launching.pausing import answering, paused
from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.restoring.checking import RestoreItem, checked
from kwokctl.clusters.object_files.restoring.direct import DirectPods
from kwokctl.clusters.object_files.restoring.identities import NewUids
from kwokctl.clusters.object_files.restoring.loading import LoadCounts, ObjectLoader
from kwokctl.clusters.object_files.restoring.order import in_order
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.errors import SnapshotError
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.kube.served_kinds import served_kinds
from kwokctl.model import (
    KUBE_CONTROLLER_MANAGER,
    KUBE_SCHEDULER,
    KWOK_CONTROLLER,
    ClusterName,
)

_PAUSED = (KUBE_SCHEDULER, KUBE_CONTROLLER_MANAGER, KWOK_CONTROLLER)
"""The components that would react to each object before all are there; paused with those that the user
has added."""
_SHOWN = 5


class RestoredObjects(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `snapshot restore --format k8s`."""

    path: Path
    created: int
    updated: int
    left: int
    """The number of objects that every cluster creates by itself, which were left alone."""
    skipped: tuple[str, ...]
    """The objects without their owners, with the missing owners."""
    failed: tuple[str, ...]
    """The objects that were refused, with the reasons."""


async def restore_objects(
    home: Home, name: ClusterName, path: Path, kinds: Sequence[str]
) -> RestoredObjects:
    """Create the objects of a file, and update those that exist; with `kinds` only objects of these.

    The file is read and checked before anything is changed. Scheduler and controllers are paused
    meanwhile. Raises SnapshotError if the cluster accepted none of the objects.
    """
    with alone(home.workdir, name):
        async with reached(home, name) as reach:
            items = await _items(reach, path, kinds)
            await demand_writable(reach.kv, name)
            async with controllers_paused(reach):
                counts = await load_items(reach, items, NewUids())
    if items and not counts.created + counts.updated + counts.left:
        raise SnapshotError(
            f"no object of '{path}' could be restored",
            detail="\n".join((*counts.failed, *counts.skipped)[:_SHOWN]),
        )
    return RestoredObjects(
        path=path,
        created=counts.created,
        updated=counts.updated,
        left=counts.left,
        skipped=tuple(counts.skipped),
        failed=tuple(counts.failed),
    )


async def foreseen_objects(
    home: Home, name: ClusterName, path: Path, kinds: Sequence[str]
) -> Mapping[str, int]:
    """Return the number of objects that `restore_objects` would write, by kind."""
    async with reached(home, name) as reach:
        items = await _items(reach, path, kinds)
    return Counter(item.resource.plural for item in items)


def controllers_paused(reach: Reach) -> AbstractAsyncContextManager[None]:
    """Pause the components that react to objects written through the API server, while a block runs."""
    wanted = (*_PAUSED, *answering(reach.saved.options, needs_webhooks=True))
    return paused(reach.runtime, reach.saved, reach.marks.paths, wanted)


async def load_items(reach: Reach, items: Sequence[RestoreItem], uids: NewUids) -> LoadCounts:
    """Write objects in their order; new uids are noted in `uids`."""
    view = ApiView(reach.client, reach.scope)
    title = "Restoring objects"
    with reach.home.progress.step(title, total=len(items), unit="objects") as step:
        loader = ObjectLoader(reach.client, uids, step)
        direct = DirectPods(reach, loader, uids)
        for group in in_order(items):
            step.say(group[0].resource.plural)
            await direct.load(group)
            defined = (item.object.body for item in group if item.is_definition)
            await view.wait_established([Write(b"", body, 0) for body in defined])
    return loader.counts


async def _items(reach: Reach, path: Path, kinds: Sequence[str]) -> list[RestoreItem]:
    with reach.home.progress.step("Reading the file"):
        served = await served_kinds(reach.client)
        return checked(ObjectFile(path), served, kinds, time.time_ns())
