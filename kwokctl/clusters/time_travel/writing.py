"""Writes differences to etcd, at the pace of the API server's watches."""

from collections.abc import Sequence

from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.pacing import write_until_shown
from kwokctl.dataplane.store import ObjectStore
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import Put
from kwokctl.etcd.marks.mark_difference import Write
from kwokctl.progress import Step


class DifferenceWriter:
    """Puts objects back, and deletes those that did not exist at the mark."""

    def __init__(self, store: ObjectStore, view: ApiView, scope: RewindScope, step: Step) -> None:
        """Write to `store`, and wait until `view` shows the writes; `step` is called for each."""
        self._store = store
        self._view = view
        self._scope = scope
        self._step = step

    async def write(self, writes: Sequence[Write]) -> None:
        """Make the writes in the order that controllers within the API server need."""
        for group in self._scope.in_order(writes):
            await write_until_shown(group, self._one, self._wait_shown)
            await self._view.wait_established([w for w in group if self._is_new_kind(w)])

    async def _one(self, write: Write) -> tuple[Write, int] | None:
        """Make one write and return its revision, unless the object has changed since the comparison.

        If another client has changed it, the next comparison finds the new difference.
        """
        try:
            if write.value is None:
                return write, await self._store.remove(write.key, write.seen)
            return write, await self._store.change(Put(write.key, write.value), write.seen)
        except EtcdConflictError:
            return None

    async def _wait_shown(self, done: Sequence[tuple[Write, int]]) -> None:
        await self._view.wait_shown(done)
        self._step.advance(len(done))

    def _is_new_kind(self, write: Write) -> bool:
        return write.value is not None and self._scope.is_definition(write.key)
