"""Writes differences to etcd, no faster than the API server's watches show them."""

import asyncio
from collections.abc import Sequence

from kwokctl.clusters.time_travel.api_view import ApiView
from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.store import ObjectStore
from kwokctl.errors import EtcdConflictError
from kwokctl.etcd.kv.kv import Put
from kwokctl.etcd.marks.difference import Write
from kwokctl.progress import Step

AT_ONCE = 64
"""Writes that no watch has shown yet: the API server ends watches whose clients fall behind."""


class DifferenceWriter:
    """Puts objects back, and deletes those that were not there."""

    def __init__(self, store: ObjectStore, view: ApiView, scope: RewindScope, step: Step) -> None:
        """Write to `store`, and wait until `view` has shown it; `step` counts."""
        self._store = store
        self._view = view
        self._scope = scope
        self._step = step

    async def write(self, writes: Sequence[Write]) -> None:
        """Write them in the order that controllers within the API server need."""
        for group in self._scope.in_order(writes):
            for first in range(0, len(group), AT_ONCE):
                await self._together(group[first : first + AT_ONCE])
            await self._view.wait_established([w for w in group if self._is_new_kind(w)])

    async def _together(self, writes: Sequence[Write]) -> None:
        """Write what is as it was when the difference was seen; the next look finds the rest."""
        revisions = await asyncio.gather(*map(self._one, writes))
        done = [(w, r) for w, r in zip(writes, revisions, strict=True) if r]
        await self._view.wait_shown(done)
        self._step.advance(len(done))

    async def _one(self, write: Write) -> int:
        """Return the revision of a write; 0 if another client has been there meanwhile."""
        try:
            if write.value is None:
                return await self._store.remove(write.key, write.seen)
            return await self._store.change(Put(write.key, write.value), write.seen)
        except EtcdConflictError:
            return 0

    def _is_new_kind(self, write: Write) -> bool:
        return write.value is not None and self._scope.is_definition(write.key)
