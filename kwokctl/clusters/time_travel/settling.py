"""Goes back to a mark: writes what differs, and looks again, until nothing does."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.marks import Mark
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.clusters.time_travel.writing import DifferenceWriter
from kwokctl.dataplane.store import ObjectStore
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import KeyValue
from kwokctl.etcd.marks.content import Content
from kwokctl.etcd.marks.difference import Write, difference
from kwokctl.etcd.marks.present import Present, present_in_all, present_since
from kwokctl.tasks import both, for_each

Step = Callable[[], Awaitable[None]]
"""Something that has to be done before something else."""
_TRIES = 4
"""How often an object is written that does not stay as it was at the mark."""
_PARALLEL_DELETIONS = 64
REST = 0.25
"""Seconds in which controllers within the API server answer what was written."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """How a cluster has come to be as at a mark."""

    revision: int
    """Of the look that found no difference."""
    written: int
    """Objects that were put back."""
    deleted: int
    unsettled: tuple[bytes, ...]
    """The keys of those that do not stay as they were."""


class Settling:
    """One way back."""

    def __init__(
        self, reach: Reach, mark: Mark, content: Content, *, in_all: bool, rest: float = REST
    ) -> None:
        """Compare everything if `in_all`, else only what was written since the mark.

        `rest` is for controllers within the API server.
        """
        self._reach = reach
        self._mark = mark
        self._content = content
        self._in_all = in_all
        self._rest = rest
        self._tries: Counter[bytes] = Counter()
        self._is_put: dict[bytes, bool] = {}
        self._may_move_pods = False

    async def look(self) -> tuple[int, list[Write]]:
        """Return what differs now, and the revision at which it does."""
        ranges = self._reach.scope.ranges
        found: Present
        if self._in_all:
            found = await present_in_all(self._reach.kv, self._content, ranges)
        else:
            found = await present_since(self._reach.kv, self._content, ranges, self._mark.baseline)
        return found.revision, list(difference(self._content, found.changed, found.missing))

    async def run(self, *, before_writes: Step, before_moves: Step) -> Settled:
        """Write until two looks in a row agree that all is as marked, or objects do not stay so.

        `before_writes` is done once, and so is `before_moves` if pods are put back on other nodes, or on none.
        """
        with self._reach.home.progress.step(
            f"Going back to '{self._mark.name}'", unit="objects"
        ) as step:
            view = ApiView(self._reach.client, self._reach.scope)
            writer = DifferenceWriter(self._reach.store, view, self._reach.scope, step)
            revision, writes = await self._first_look(before_writes, before_moves)
            rests = False
            while due := [write for write in writes if self._tries[write.key] < _TRIES]:
                rests = rests or self._reach.scope.is_restless(due)
                await self._prepare(due, before_moves)
                await writer.write(due)
                self._note(due)
                revision, writes = await self.look()
                if rests and not writes:
                    rests = False
                    await asyncio.sleep(self._rest)
                    revision, writes = await self.look()
        return Settled(
            revision=revision,
            written=sum(self._is_put.values()),
            deleted=len(self._is_put) - sum(self._is_put.values()),
            unsettled=tuple(write.key for write in writes),
        )

    async def _first_look(self, before_writes: Step, before_moves: Step) -> tuple[int, list[Write]]:
        """Look while that is done which has to be done before anything is written."""

        async def look() -> tuple[int, list[Write]]:
            revision, writes = await self.look()
            await self._prepare(writes, before_moves)
            return revision, writes

        # Where the look fails the rest is done nevertheless: half a stop is worse than a whole one.
        looked, _ = await both(look(), before_writes())
        # What was written meanwhile is found after the first writes; without any, it is found now.
        return looked if looked[1] else await self.look()

    async def _prepare(self, writes: Sequence[Write], before_moves: Step) -> None:
        if not self._may_move_pods and self._reach.scope.moves_pods(writes):
            await before_moves()
            self._may_move_pods = True

    def _note(self, writes: Sequence[Write]) -> None:
        self._tries.update(write.key for write in writes)
        self._is_put |= {write.key: write.value is not None for write in writes}


async def delete_events(reach: Reach, mark: Mark) -> int:
    """Delete the Events made after a mark; return their number.

    New ones that programs which run make meanwhile may stay.
    """
    start, end = reach.scope.events
    made = await reach.kv.created(start, end, since=mark.revision + 1)
    await for_each(made, partial(_delete, reach.store), at_once=_PARALLEL_DELETIONS)
    return len(made)


async def _delete(store: ObjectStore, item: KeyValue) -> None:
    """Delete objects that no other client has written meanwhile."""
    with suppress(EtcdConflictError):
        await store.remove(item.key, item.mod_revision)
