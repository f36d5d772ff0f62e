"""Rewinds a cluster to a mark while etcd and the API server run and watches stay open."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal

import msgspec

from kwokctl.clusters.etcd_quota import demand_writable
from kwokctl.clusters.launching.pausing import Pause, answering, pausing
from kwokctl.clusters.state.home import Home
from kwokctl.clusters.state.locks import alone
from kwokctl.clusters.time_travel.make_mark import write_witness
from kwokctl.clusters.time_travel.reach import Reach, reached
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.clusters.time_travel.write_difference import Settled, Settling, delete_events
from kwokctl.dataplane.objects.stored_kind import stored_kind
from kwokctl.errors import ConflictError, UnavailableError
from kwokctl.etcd.marks.mark_content import opened
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.model import KUBE_CONTROLLER_MANAGER, KUBE_SCHEDULER, ClusterName


class ChangedObject(msgspec.Struct, frozen=True, kw_only=True):
    """An object that differs from a mark."""

    kind: str
    """The kind; empty if the stored value is encrypted."""
    key: str
    """The resource, namespace and name: `pods/default/web`, `nodes/node-000000`."""
    change: Literal["created", "changed", "deleted"]


def changed_objects(scope: RewindScope, writes: Iterable[Write]) -> Iterator[ChangedObject]:
    """Yield the objects that these writes would change, by key."""
    for write in sorted(writes, key=lambda each: each.key):
        kind = stored_kind(write.former if write.value is None else write.value)
        yield ChangedObject(
            kind=kind.kind if kind else "",
            key=scope.name(write.key),
            change=_change(write),
        )


def _change(write: Write) -> Literal["created", "changed", "deleted"]:
    if write.value is None:
        return "created"
    return "changed" if write.seen else "deleted"


PAUSED = (KUBE_CONTROLLER_MANAGER,)
"""The component that would react to each write; paused with those that the user has added."""
_PAUSED_FOR_MOVES = (KUBE_SCHEDULER,)
"""The scheduler ends when a pod that it has bound changes or loses its node: it considers its cache corrupt."""


class Rewound(msgspec.Struct, frozen=True, kw_only=True):
    """The result of `snapshot rewind`."""

    mark: str
    written: int
    """The number of objects that were put back."""
    deleted: int
    """The number of deleted objects that did not exist at the mark, without Events."""
    events: int
    """The number of deleted Events."""
    unsettled: tuple[str, ...]
    """The objects that running components keep changing, by resource, namespace and name."""


async def rewind_cluster(
    home: Home, cluster: ClusterName, name: str, *, keep_events: bool = False
) -> Rewound:
    """Put everything back as it was at a mark, the latest if no name is given.

    Returns when the controller-manager answers again. It acts on new objects, and the scheduler binds pods,
    once they have filled their caches: after a tenth of a second or two, or seconds with 100,000 pods. A
    rewind that was killed at any moment can be repeated.
    """
    with alone(home.workdir, cluster):
        async with reached(home, cluster) as reach:
            mark = reach.marks.find(name)
            check_origin(reach, mark)
            with opened(reach.marks.content(mark)) as content:
                content.verify()
                is_known = await has_same_history(reach, mark)
                if not is_known:
                    home.progress.note("etcd was restored since the mark: all of it is compared")
                await demand_writable(reach.kv, cluster)
                async with _pausing(reach) as pause:
                    settling = Settling(reach, mark, content, in_all=not is_known)
                    settled = await settling.run(
                        before_writes=pause.replace, before_moves=pause.stop_later
                    )
                    pause.let_go()
                    events = 0 if keep_events else await delete_events(reach, mark)
                    if not settled.unsettled:
                        await _advanced(reach, mark, settled)
    return Rewound(
        mark=mark.name,
        written=settled.written,
        deleted=settled.deleted,
        events=events,
        unsettled=tuple(map(reach.scope.name, settled.unsettled)),
    )


def _pausing(reach: Reach) -> AbstractAsyncContextManager[Pause]:
    wanted = (*PAUSED, *answering(reach.saved.options, needs_webhooks=False))
    return pausing(reach.runtime, reach.saved, reach.marks.paths, wanted, later=_PAUSED_FOR_MOVES)


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """The writes that a rewind would make."""

    mark: str
    written: Mapping[str, int]
    """The numbers of objects that would be put back, by kubectl's name of their resource."""
    deleted: Mapping[str, int]
    objects: tuple[ChangedObject, ...] = ()
    """The objects that differ, by key."""


async def foreseen(home: Home, cluster: ClusterName, name: str) -> Outlook:
    """Return the writes that `rewind_cluster` would make now."""
    async with reached(home, cluster) as reach:
        mark = reach.marks.find(name)
        check_origin(reach, mark)
        with opened(reach.marks.content(mark)) as content:
            is_known = await has_same_history(reach, mark)
            _, writes = await Settling(reach, mark, content, in_all=not is_known).look()
        put = Counter(reach.scope.resource(w.key) for w in writes if w.value is not None)
        gone = Counter(reach.scope.resource(w.key) for w in writes if w.value is None)
        objects = tuple(changed_objects(reach.scope, writes))
        return Outlook(mark=mark.name, written=dict(put), deleted=dict(gone), objects=objects)


async def has_same_history(reach: Reach, mark: Mark) -> bool:
    """Return whether etcd's revisions since a mark show all writes, which they do not after a restore."""
    found = await reach.kv.get(mark.key)
    return found is not None and found.mod_revision == mark.witness


def check_origin(reach: Reach, mark: Mark) -> None:
    """Raise ConflictError for a mark of another cluster, or with another prefix of keys."""
    if mark.cluster and reach.uid and mark.cluster != reach.uid:
        raise ConflictError(
            f"the mark '{mark.name}' was made in another cluster than the one in etcd",
            hint="nothing was changed; drop the mark, and make it again",
        )
    if mark.prefix != reach.prefix:
        raise ConflictError(
            f"the mark '{mark.name}' has keys under '{mark.prefix}', and the cluster's keys are under "
            f"'{reach.prefix}' now",
            hint="drop the mark, and make it again",
        )


async def advance(reach: Reach, mark: Mark, settled: Settled) -> Mark:
    """Note that the cluster is as marked: the next rewind compares only later writes."""
    witness = await write_witness(reach.kv, mark.name)
    later = msgspec.structs.replace(mark, baseline=settled.revision, witness=witness)
    reach.marks.keep(later)
    return later


async def _advanced(reach: Reach, mark: Mark, settled: Settled) -> None:
    """Note that the cluster is as marked, unless the disk is full: the rewind has succeeded nevertheless."""
    try:
        await advance(reach, mark, settled)
    except UnavailableError as e:
        reach.home.progress.warn(
            f"{e}; the next rewind takes longer, because it compares all objects"
        )
