"""Restores objects of a file into a cluster, and keeps the cluster's other objects."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import groupby
from pathlib import Path

import msgspec

from kwokctl.clusters.etcd_quota import demand_writable
from kwokctl.clusters.launching.pausing import answering, paused
from kwokctl.clusters.object_files.reading import ObjectFile
from kwokctl.clusters.object_files.restoring.checking import DEFINITION, RestoreItem, checked
from kwokctl.clusters.object_files.restoring.direct import DirectPods
from kwokctl.clusters.object_files.restoring.loading import LoadCounts, ObjectLoader
from kwokctl.clusters.object_files.restoring.sent_objects import NewUids
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.errors import SnapshotError
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.kube.resource import FAULT_PAGES, FAULT_SCHEDULES, FAULTS
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
    faults_left_out: int = 0
    """The number of Faults of the file that were left out, as was asked."""


async def restore_objects(
    home: Home,
    name: ClusterName,
    path: Path,
    kinds: Sequence[str],
    *,
    without_faults: bool = False,
) -> RestoredObjects:
    """Create the objects of a file, and update those that exist; with `kinds` only objects of these.

    `without_faults` leaves out Faults, and what was stored about them.

    The file is read and checked before anything is changed. Scheduler and controllers are paused
    meanwhile. Raises SnapshotError if the cluster accepted none of the objects.
    """
    with alone(home.workdir, name):
        async with reached(home, name) as reach:
            every = await _items(reach, path, kinds)
            items = _without_faults(every) if without_faults else every
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
        faults_left_out=_faults(every) if without_faults else 0,
    )


async def foreseen_objects(
    home: Home,
    name: ClusterName,
    path: Path,
    kinds: Sequence[str],
    *,
    without_faults: bool = False,
) -> Mapping[str, int]:
    """Return the number of objects that `restore_objects` would write, by kind."""
    async with reached(home, name) as reach:
        items = await _items(reach, path, kinds)
    items = _without_faults(items) if without_faults else items
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


def _faults(items: Iterable[RestoreItem]) -> int:
    kind = (FAULTS.group, FAULTS.kind)
    return sum((item.resource.group, item.resource.kind) == kind for item in items)


def _without_faults(items: Sequence[RestoreItem]) -> list[RestoreItem]:
    """Return the objects without Faults, schedules and their pages; classes and dialects of users stay."""
    kinds = {(each.group, each.kind) for each in (FAULTS, FAULT_SCHEDULES, FAULT_PAGES)}
    return [item for item in items if (item.resource.group, item.resource.kind) not in kinds]


_FIRST = (
    DEFINITION,
    ("", "Namespace"),
)
_RANKS = {
    kind: rank
    for rank, kind in enumerate(
        (
            ("scheduling.k8s.io", "PriorityClass"),
            ("node.k8s.io", "RuntimeClass"),
            ("storage.k8s.io", "StorageClass"),
            ("rbac.authorization.k8s.io", "ClusterRole"),
            ("rbac.authorization.k8s.io", "Role"),
            ("", "Node"),
            ("", "ServiceAccount"),
            ("", "Secret"),
            ("", "ConfigMap"),
            ("", "LimitRange"),
            ("", "PersistentVolumeClaim"),
            ("", "PersistentVolume"),
            ("", "Service"),
            (FAULT_SCHEDULES.group, FAULT_SCHEDULES.kind),
        )
    )
}
"""Kinds that others refer to, in the order of writing."""
_OTHERS = len(_RANKS)
_LAST = (("", "Pod"), ("", "ResourceQuota"))
"""Kinds that are written last: pods depend on most others; a quota would count objects written after it."""
_WEBHOOKS = "admissionregistration.k8s.io"


def in_order(items: Sequence[RestoreItem]) -> Iterator[list[RestoreItem]]:
    """Yield groups of objects, each to be written completely before the next.

    Owners come before their dependents. Admission webhooks and policies come last, because they would
    apply to the others.
    """
    depths = _depths(items)

    def rank(item: RestoreItem) -> tuple[int, int, int]:
        above = (depths[owner.uid] for owner in item.object.owners if owner.uid in depths)
        depth = depths.get(item.object.uid, 1 + max(above, default=-1))
        return _rank(item, depth)

    ranked = sorted(items, key=rank)
    return (list(group) for _, group in groupby(ranked, key=rank))


def _rank(item: RestoreItem, depth: int) -> tuple[int, int, int]:
    kind = item.resource.group, item.resource.kind
    if kind in _FIRST:
        return _FIRST.index(kind), depth, 0
    if item.resource.group == _WEBHOOKS:
        return len(_FIRST) + 1, depth, 0
    rank = _OTHERS + 1 + _LAST.index(kind) if kind in _LAST else _RANKS.get(kind, _OTHERS)
    return len(_FIRST), depth, rank


def _depths(items: Iterable[RestoreItem]) -> Mapping[str, int]:
    """Return the number of generations of owners above each object in the file, by uid."""
    objects = (item.object for item in items if item.object.uid)
    owners = {each.uid: [owner.uid for owner in each.owners] for each in objects}
    depths: dict[str, int] = {}
    for uid in owners:
        _measure(uid, owners, depths)
    return depths


def _measure(uid: str, owners: Mapping[str, Sequence[str]], depths: dict[str, int]) -> None:
    """Set the depth of an object and of its owners, without recursion: an object can be its own ancestor."""
    waiting, seen = [uid], {uid}
    while waiting:
        this = waiting[-1]
        above = [each for each in owners[this] if each in owners]
        unknown = [each for each in above if each not in depths and each not in seen]
        if unknown:
            seen.update(unknown)
            waiting += unknown
            continue
        waiting.pop()
        if this not in depths:
            depths[this] = 1 + max((depths.get(each, 0) for each in above), default=-1)
