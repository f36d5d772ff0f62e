"""Waits until the controller has seen what a rewind has put back and decides how pods go on.

A pod that was put back would fail once more by a fault that the controller still believes to be open: a busy machine shows it the
watches of Faults, nodes and pods in any order.
"""

import asyncio
from collections.abc import Iterable

from kwokctl.clusters.time_travel.scope import RewindScope
from kwokctl.dataplane.scale_protocol import ControllerClient
from kwokctl.errors import RequestError
from kwokctl.etcd.marks.mark_difference import Write

_LOOK_EVERY = 0.01
_PATIENCE = 10.0
"""Seconds without news from the controller after which the wait ends: it may be stopped, or not see these objects."""


class ControllerView:
    """The writes that the controller of a cluster has seen."""

    def __init__(self, controller: ControllerClient | None, scope: RewindScope) -> None:
        """Ask `controller`; None if there is none to wait for."""
        self._controller = controller
        self._scope = scope
        self._nodes = self._faults = 0
        """The revisions of the last writes that are waited for."""

    def note(self, written: Iterable[tuple[Write, int]]) -> None:
        """Note writes, each with its revision."""
        for write, revision in written:
            if self._scope.is_fault(write.key):
                self._faults = max(self._faults, revision)
            elif self._scope.is_faulty_node(write):
                self._nodes = max(self._nodes, revision)

    async def wait_seen(self) -> None:
        """Wait until the controller has seen the last write of a Fault, and of a node with faults."""
        if self._controller is None or not (self._nodes or self._faults):
            return
        try:
            has_seen = await self._is_seen(self._controller)
        except (RequestError, TimeoutError):
            has_seen = False
        if not has_seen:
            self._controller = None  # no further write waits for it
        self._nodes = self._faults = 0

    async def _is_seen(self, controller: ControllerClient) -> bool:
        clock = asyncio.get_running_loop().time
        known, since = None, clock()
        while clock() < since + _PATIENCE:
            async with asyncio.timeout(_PATIENCE):
                seen = await controller.seen()
            has_faults = seen.faults is None or seen.faults >= self._faults
            if has_faults and seen.nodes >= self._nodes:
                return True
            if seen != known:
                known, since = seen, clock()
            await asyncio.sleep(_LOOK_EVERY)
        return False
