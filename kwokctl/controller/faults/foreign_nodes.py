"""Shows faults on nodes that no controller of kwokctl plays, where a Fault says that it hits them, too.

Their kubelets and agents know nothing of it: what they write over a fault is shown again only when the fault changes. What is
no field of a node, such as silence, is not shown. A Fault that is deleted while no controller runs is not undone.
"""

import logging
from collections.abc import Callable, Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.overlay_writer import OverlayWriter, WrittenNode
from kwokctl.controller.known_faults.open_faults import ForeignNode
from kwokctl.controller.nodes.node_registry import NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import ExpressionError, RequestError
from kwokctl.faults.overlays.node_fields import gpus_of
from kwokctl.faults.overlays.open_entries import entries_of

log = logging.getLogger(__name__)

_WRITERS = 4
_POST_AGAIN = 5.0
"""Seconds between two looks at whether this controller is the leader."""


class _Hit:
    """A node that shows faults, or has to."""

    __slots__ = ("is_queued", "name", "ring", "tries", "uid")

    def __init__(self, name: str, uid: str, ring: Callable[["_Hit"], None]) -> None:
        self.name = name
        self.uid = uid
        self.ring = ring
        self.tries = 0
        self.is_queued = False

    def on_due(self) -> None:
        self.ring(self)


class ForeignNodes:
    """The nodes of others that show faults, while this controller is the one of several that injects."""

    def __init__(
        self, context: ControllerContext, nodes: NodeRegistry, is_mine: Callable[[], bool]
    ) -> None:
        """Follow the faults of the context on nodes that are not in `nodes`."""
        self._context = context
        self._faults = context.faults
        self._nodes = nodes
        self._is_mine = is_mine
        self._writer = OverlayWriter(context, past_api=False)
        self._queue: BatchQueue[_Hit] = work_queue(self._work, _WRITERS)
        self._hit: dict[str, _Hit] = {}
        """By uid."""
        self._faults.listen(self._changed)

    async def run(self) -> None:
        """Write until cancelled."""
        await self._queue.run()

    def _changed(self, nodes: Mapping[str, str]) -> None:
        for uid, name in nodes.items():
            hit = self._hit.get(uid)
            if hit is None and self._is_foreign(uid, name):
                hit = self._hit[uid] = _Hit(name, uid, self._put)
            if hit is not None:
                self._put(hit)

    def _is_foreign(self, uid: str, name: str) -> bool:
        return self._nodes.get(name) is None and self._faults.hits_foreign(uid)

    def _put(self, hit: _Hit) -> None:
        if not hit.is_queued:
            hit.is_queued = True
            self._queue.put(hit)

    async def _work(self, hit: _Hit) -> None:
        hit.is_queued = False
        if not self._is_mine():
            # The leader may end before it has written.
            self._context.delay_queue.put(hit, _POST_AGAIN)
            return
        try:
            written = await self._writer.write(hit.name, hit.uid)
        except ExpressionError as e:
            log.warning("faults of node %r: %s", hit.name, e)
            return
        except RequestError as e:
            self._put_off(hit, e)
            return
        hit.tries = 0
        self._note(hit, written)

    def _note(self, hit: _Hit, written: WrittenNode | None) -> None:
        if written is None or not self._faults.has(hit.uid):
            self._hit.pop(hit.uid, None)
            self._faults.note_foreign(hit.uid, None)
            return
        node = written.node
        gpus = gpus_of(self._faults.beneath(node))
        self._faults.note_foreign(hit.uid, ForeignNode(entries_of(node), gpus))
        if written.wait is not None:
            self._context.delay_queue.put(hit, max(written.wait, 0.0))

    def _put_off(self, hit: _Hit, error: RequestError) -> None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            self._note(hit, None)
            return
        hit.tries += 1
        if kind.is_lasting:
            self._faults.trouble(hit.uid, error.reason or kind.name.title())
        self._context.delay_queue.put(hit, wait_after(kind, hit.tries, self._context.random))
