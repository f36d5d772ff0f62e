"""Creates objects no faster than they become ready.

Each node that is not ready yet costs writes: every change of the number of nodes that
kube-controller-manager sees before it comes to this node can have it write the node once more.
Measured on two cores with real components, nodes ready a second: 1,500 nodes made as fast as the
API accepts them 130, with at most 16 not ready 240; 5,000 nodes with leases, at most 16 of them
not ready 109, 24 173, 48 160.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from kwokctl.clusters.scaling.context import ScaleContext, Supervision
from kwokctl.dataplane.pacing import LATE
from kwokctl.kube.resource import Resource
from kwokctl.progress import Step
from kwokctl.tasks import beside

WINDOW = 24
"""Objects that may be made and not yet ready."""
STEADY = 25
"""Objects a second that must become ready for them to set the pace. Fewer do where components are
held to a few requests a second, and there is nothing to be gained by going as slowly as they do."""
FLOOR = 100.0
"""Objects a second that are made until then."""
PATIENCE = 1.0
"""Seconds without any object becoming ready after which none is waited for."""

_LOOK_AGAIN = 0.1
_TELL_EVERY = 0.5


class Pace:
    """Hands out turns: one whenever an object has become ready.

    As long as fewer than `STEADY` a second become ready, `FLOOR` a second are given; when none has
    for `PATIENCE` seconds, as in a cluster without the components that would do it, turns are free.
    """

    def __init__(self, *, window: int = WINDOW) -> None:
        """Start with `window` free turns; must be called where an event loop runs."""
        self._loop = asyncio.get_running_loop()
        self._free = window
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._settled_at = self._granted_at = self._loop.time()
        self._settled: deque[float] = deque(maxlen=STEADY)

    async def turn(self) -> None:
        """Wait for a turn."""
        if self._free > 0 or self._loop.time() - self._settled_at > PATIENCE:
            self._take()
            return
        future = self._loop.create_future()
        self._waiting.append(future)
        delay = self._granted_at + len(self._waiting) / FLOOR - self._loop.time()
        try:
            await self._granted(future, delay)
        finally:
            with suppress(ValueError):
                self._waiting.remove(future)

    def settle(self) -> None:
        """Note that one object has become ready."""
        self._settled_at = self._loop.time()
        self._settled.append(self._settled_at)
        self._free += 1
        if self._free > 0 and self._waiting:
            self._grant(self._waiting.popleft())

    async def _granted(self, future: asyncio.Future[None], delay: float) -> None:
        """Wait for a turn, `delay` seconds at most unless the pace is steady."""
        while not future.done():
            await asyncio.wait((future,), timeout=max(delay, 0.0))
            if not self._is_steady():
                self._grant(future)
            delay = _LOOK_AGAIN

    def _is_steady(self) -> bool:
        settled = self._settled
        return len(settled) == STEADY and self._loop.time() - settled[0] <= 1.0

    def _grant(self, future: asyncio.Future[None]) -> None:
        if not future.done():
            self._take()
            future.set_result(None)

    def _take(self) -> None:
        self._free -= 1
        self._granted_at = self._loop.time()


@asynccontextmanager
async def held_back(
    context: ScaleContext, resource: Resource, step: Step, awaited: Callable[[], str] = str
) -> AsyncIterator[None]:
    """Say in `step` when watches that do not follow hold writes back, else what is `awaited`, while inside."""
    if context.supervision is None:
        yield
        return
    async with beside(_report_lag(context.supervision, resource, step, awaited)):
        yield


async def _report_lag(
    supervision: Supervision, resource: Resource, step: Step, awaited: Callable[[], str]
) -> None:
    """Report how far watches are behind while that is much: an ended watch has to start again."""
    while True:
        await asyncio.sleep(_TELL_EVERY)
        lag = supervision.direct.lag(resource)
        if lag <= LATE:
            step.say(awaited())
            continue
        ended = supervision.ended
        await ended.refresh()
        number = {0: "", 1: ", one was ended"}.get(ended.new, f", {ended.new:,} were ended")
        step.say(f"slowed down: watches are {lag:.1f} s behind{number}")
