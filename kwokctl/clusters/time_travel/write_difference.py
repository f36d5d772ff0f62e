"""Rewinds to a mark: writes the differences and compares again, until nothing differs."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial

import msgspec

from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.controller_view import ControllerView
from kwokctl.clusters.time_travel.reach import Reach
from kwokctl.clusters.time_travel.stored_marks import Mark
from kwokctl.dataplane.object_store import ObjectStore
from kwokctl.dataplane.pacing import write_until_shown
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import KeyValue, Put
from kwokctl.etcd.marks.mark_content import Content
from kwokctl.etcd.marks.mark_difference import Write, difference
from kwokctl.etcd.marks.present import Present, present_in_all, present_since
from kwokctl.progress import Step
from kwokctl.tasks import both, for_each


class DifferenceWriter:
    """Puts objects back, and deletes those that did not exist at the mark."""

    def __init__(
        self, reach: Reach, view: ApiView, controller_view: ControllerView, step: Step
    ) -> None:
        """Write to a cluster, and wait until both views show the writes; `step` is called for each."""
        self._kv, self._store = reach.kv, reach.store
        self._view = view
        self._controller_view = controller_view
        self._scope = reach.scope
        self._step = step

    async def write(self, writes: Sequence[Write]) -> None:
        """Make the writes in the order that controllers within the API server need."""
        for group in self._scope.in_order(writes):
            await write_until_shown(group, self._one, self._wait_shown)
            await self._view.wait_established([w for w in group if self._is_new_kind(w)])
            await self._controller_view.wait_seen()

    async def _one(self, write: Write) -> tuple[Write, int] | None:
        """Make one write and return its revision, unless the object has changed since the comparison.

        If another client has changed it, the next comparison finds the new difference.
        """
        try:
            if write.value is None:
                return write, await self._store.remove(write.key, write.seen)
            return write, await self._store.change(Put(write.key, write.value), write.seen)
        except EtcdConflictError:
            # The controller itself takes a fault back from a node when it has seen that it is gone.
            if (found := await self._kv.get(write.key)) is not None:
                self._controller_view.note([(write, found.mod_revision)])
            return None

    async def _wait_shown(self, done: Sequence[tuple[Write, int]]) -> None:
        await self._view.wait_shown(done)
        self._controller_view.note(done)
        self._step.advance(len(done))

    def _is_new_kind(self, write: Write) -> bool:
        return write.value is not None and self._scope.is_definition(write.key)


Preparation = Callable[[], Awaitable[None]]
"""A preparation that a rewind awaits before it writes."""
_TRIES = 4
"""The most writes of an object that does not stay as it was at the mark."""
_PARALLEL_DELETIONS = 64
REST = 0.25
"""Seconds in which controllers within the API server react to writes."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a rewind."""

    revision: int
    """The revision of the comparison that found no difference."""
    written: int
    """The number of objects that were put back."""
    deleted: int
    unsettled: tuple[bytes, ...]
    """The keys of the objects that do not stay as they were."""


class Settling:
    """One rewind to a mark."""

    def __init__(
        self, reach: Reach, mark: Mark, content: Content, *, in_all: bool, rest: float = REST
    ) -> None:
        """Compare everything if `in_all`, else only objects that were written since the mark.

        `rest` waits for controllers within the API server.
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
        """Return the revision of a comparison, and the writes that would put back what differs at it."""
        ranges = self._reach.scope.ranges
        found: Present
        if self._in_all:
            found = await present_in_all(self._reach.kv, self._content, ranges)
        else:
            found = await present_since(self._reach.kv, self._content, ranges, self._mark.baseline)
        return found.revision, list(difference(self._content, found.changed, found.missing))

    async def run(self, *, before_writes: Preparation, before_moves: Preparation) -> Settled:
        """Write until two comparisons in a row find no difference, or until objects do not stay as marked.

        `before_writes` is awaited once, and so is `before_moves` if pods change or lose their nodes.
        """
        with self._reach.home.progress.step(
            f"Going back to '{self._mark.name}'", unit="objects"
        ) as step:
            reach = self._reach
            view = ApiView(reach.client, reach.scope)
            controller_view = ControllerView(reach.controller, reach.scope)
            writer = DifferenceWriter(reach, view, controller_view, step)
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

    async def _first_look(
        self, before_writes: Preparation, before_moves: Preparation
    ) -> tuple[int, list[Write]]:
        """Compare while the preparations run that must precede the first write."""

        async def look() -> tuple[int, list[Write]]:
            revision, writes = await self.look()
            await self._prepare(writes, before_moves)
            return revision, writes

        # Even if the comparison fails, the preparations are completed: half of the components must not stay stopped.
        looked, _ = await both(look(), before_writes())
        # Other clients' writes meanwhile are found after our first writes; without any of ours, they are found now.
        return looked if looked[1] else await self.look()

    async def _prepare(self, writes: Sequence[Write], before_moves: Preparation) -> None:
        if not self._may_move_pods and self._reach.scope.moves_pods(writes):
            await before_moves()
            self._may_move_pods = True

    def _note(self, writes: Sequence[Write]) -> None:
        self._tries.update(write.key for write in writes)
        self._is_put |= {write.key: write.value is not None for write in writes}


async def delete_events(reach: Reach, mark: Mark) -> int:
    """Delete the Events that were created after a mark, and return their number.

    Events that running programs create meanwhile may stay.
    """
    start, end = reach.scope.events
    made = await reach.kv.created(start, end, since=mark.revision + 1)
    await for_each(made, partial(_delete, reach.store), at_once=_PARALLEL_DELETIONS)
    return len(made)


async def _delete(store: ObjectStore, item: KeyValue) -> None:
    """Delete objects that no other client has written meanwhile."""
    with suppress(EtcdConflictError):
        await store.remove(item.key, item.mod_revision)
