"""Makes objects no faster than the cluster gets them ready.

A node that lies about not yet ready costs writes: every change of the number of nodes that
kube-controller-manager sees before it comes to this node can have it write the node once more.
Measured with 1,500 nodes on two cores, real components: 130 nodes/s ready when they are made as
fast as the API takes them, 240/s when at most 16 lie about.
"""

import asyncio
from collections import deque
from contextlib import suppress

WINDOW = 16
"""Objects that may be made and not yet ready."""
FLOOR = 100.0
"""Objects a second that are made in any case, however slowly they become ready."""
PATIENCE = 1.0
"""Seconds without any object becoming ready after which none is waited for."""


class Pace:
    """Hands out turns: one whenever an object has become ready, and `FLOOR` a second at least.

    When nothing has become ready for `PATIENCE` seconds, as in a cluster without the components
    that would do it, turns are free until something does again.
    """

    def __init__(self, *, window: int = WINDOW) -> None:
        """Start with `window` free turns; must be called where an event loop runs."""
        self._loop = asyncio.get_running_loop()
        self._free = window
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._settled_at = self._granted_at = self._loop.time()

    async def turn(self) -> None:
        """Wait for a turn."""
        if self._free > 0 or self._loop.time() - self._settled_at > PATIENCE:
            self._take()
            return
        future = self._loop.create_future()
        self._waiting.append(future)
        at_last = self._granted_at + len(self._waiting) / FLOOR
        timer = self._loop.call_at(at_last, self._grant, future)
        try:
            await future
        finally:
            timer.cancel()
            with suppress(ValueError):
                self._waiting.remove(future)

    def settle(self) -> None:
        """Tell that one object has become ready."""
        self._settled_at = self._loop.time()
        self._free += 1
        if self._free > 0 and self._waiting:
            self._grant(self._waiting.popleft())

    def _grant(self, future: asyncio.Future[None]) -> None:
        if not future.done():
            self._take()
            future.set_result(None)

    def _take(self) -> None:
        self._free -= 1
        self._granted_at = self._loop.time()
