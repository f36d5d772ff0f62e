"""Writes what faults show on the nodes that this controller holds, and takes it back when they are over."""

import logging
from collections.abc import Mapping

from kwokctl.controller.controller_context import ControllerContext
from kwokctl.controller.faults.overlay_writer import OverlayWriter
from kwokctl.controller.nodes.node_registry import Hold, ManagedNode, NodeRegistry
from kwokctl.controller.scheduling.worker_queue import BatchQueue, work_queue
from kwokctl.controller.write_errors import ErrorKind, error_kind, wait_after
from kwokctl.errors import ExpressionError, RequestError

log = logging.getLogger(__name__)

_WRITERS = 32


class _Overlay:
    """A node whose faults have to be written, at once or later."""

    __slots__ = ("is_queued", "name", "overlays", "tries", "written")

    def __init__(self, name: str, overlays: "NodeOverlays") -> None:
        self.name = name
        self.overlays = overlays
        self.tries = 0
        self.is_queued = False
        self.written = ""
        """The resourceVersion of the last write of this node's faults."""

    def on_due(self) -> None:
        self.overlays.put(self)


class NodeOverlays:
    """The nodes that show faults, or will."""

    def __init__(self, context: ControllerContext, nodes: NodeRegistry) -> None:
        """Follow `nodes`, and the faults of the context."""
        self._context = context
        self._faults = context.faults
        self._nodes = nodes
        self._queue: BatchQueue[_Overlay] = work_queue(self._work, _WRITERS)
        self._waiting: dict[str, _Overlay] = {}
        self._writer = OverlayWriter(context, past_api=True)
        nodes.listen(self)
        self._faults.listen(self._changed)

    async def run(self) -> None:
        """Write until cancelled."""
        await self._queue.run()

    def put(self, overlay_: _Overlay) -> None:
        """Write a node as soon as a writer is free."""
        if not overlay_.is_queued:
            overlay_.is_queued = True
            self._queue.put(overlay_)

    def changed(self, node: ManagedNode) -> None:
        """Look at a node that may be written to from now on."""
        self.described(node)

    def turned(self, node: ManagedNode) -> None:
        """Ignore whether a kubelet is down: agents beside it still report."""

    def rebooted(self, node: ManagedNode) -> None:
        """Ignore a reboot: it clears no fault by itself."""

    def described(self, node: ManagedNode) -> None:
        """Write the faults of a node that has changed, unless it was this object that changed it."""
        if node.hold is not Hold.HELD:
            return
        facts = node.facts
        if not (facts.faulty_version or facts.open_faults or self._faults.has(node.uid)):
            return
        waiting = self._waiting.get(node.name)
        if waiting is None:
            waiting = self._waiting[node.name] = _Overlay(node.name, self)
        if facts.faulty_version and waiting.written == facts.faulty_version:
            return
        self.put(waiting)

    def gone(self, name: str) -> None:
        """Forget a node."""
        if (waiting := self._waiting.pop(name, None)) is not None:
            self._context.delay_queue.forget(waiting)

    def _changed(self, nodes: Mapping[str, str]) -> None:
        """Look at nodes whose faults have changed."""
        for uid, name in nodes.items():
            node = self._nodes.get(name)
            if node is None or node.uid != uid:
                continue
            waiting = self._waiting.get(name)
            if node.hold is not Hold.HELD:
                if waiting is not None:
                    waiting.written = ""  # it has to be written as soon as it is held, as it shows something else by now
                continue
            if waiting is None:
                waiting = self._waiting[name] = _Overlay(name, self)
            self.put(waiting)

    async def _work(self, waiting: _Overlay) -> None:
        waiting.is_queued = False
        node = self._nodes.get(waiting.name)
        if self._waiting.get(waiting.name) is not waiting or node is None:
            return
        if node.hold is not Hold.HELD:
            waiting.written = ""  # what is due now has to be written as soon as it is held
            return
        try:
            written = await self._writer.write(node.name, node.uid)
        except RequestError as e:
            self._put_off(waiting, e)
            return
        except ExpressionError as e:  # a template of a user's class; the others are checked
            log.warning("faults of node %r: %s", waiting.name, e)
            return
        waiting.tries = 0
        self._faults.problems.pop(node.uid, None)
        if written is None:
            return
        waiting.written = written.node["metadata"]["resourceVersion"]
        if written.wait is not None:
            self._context.delay_queue.put(waiting, max(written.wait, 0.0))
        elif not self._faults.has(node.uid):
            self._drop(waiting)

    def _put_off(self, waiting: _Overlay, error: RequestError) -> None:
        kind = error_kind(error)
        if kind is ErrorKind.GONE:
            self._drop(waiting)
            return
        waiting.tries += 1
        if kind.is_lasting and (node := self._nodes.get(waiting.name)) is not None:
            self._faults.trouble(node.uid, error.reason or kind.name.title())
        if kind.is_lasting and waiting.tries == 1 and not self._context.rights.is_known(error):
            log.warning("faults of node %r: %s; trying again", waiting.name, error)
        delay = wait_after(kind, waiting.tries, self._context.random)
        self._context.delay_queue.put(waiting, delay)

    def _drop(self, waiting: _Overlay) -> None:
        """Forget a node that shows nothing, or is gone, unless another node has its name by now."""
        if self._waiting.get(waiting.name) is waiting:
            del self._waiting[waiting.name]
