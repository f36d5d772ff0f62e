"""Limits writes past the API server to the rate at which a cluster's watchers follow.

The API server ends a watch whose queue is full; on a young cluster that queue holds only ten events
(k8s.io/apiserver, `storage/cacher`: capacity of the watch cache over 75 s, at least 10). There
are two ways, because writers know different things:

- `Window` limits the rate: the controller watches the objects that it writes, and `scale` asks the
controller for the progress of that watch. Such a writer starts with a small number of writes that the
watch has not shown yet, allows more while the watch shows them soon, and fewer when it is late: the
rate is the window divided by the delay.
- `write_until_shown` is a barrier: a rewind and a restore have no watch, and would need one for each
kind. They have to wait anyway until the API server shows the last write, before they compare again
or end. So they write some objects, and ask the API server for the last of them.

kectl and its replay are not limited: often no API server runs.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kwokctl.tasks import for_each

Item = TypeVar("Item")
Written = TypeVar("Written")

MOST_UNSHOWN = 64
"""The most writes of a barrier that the API server has not shown yet."""
_WRITES_PER_QUESTION = 32
"""Writes after which a barrier asks the API server, while it writes the next ones."""
FIRST_UNSEEN = 32
"""The most unseen writes of a window at the start."""
MOST_UNSEEN = 2000
"""The most unseen writes of a window ever: a watcher's queue holds up to 1,000, as many are on their way."""
SOON = 0.15
"""The longest delay, in seconds, with which a window grows."""
LATE = 0.5
"""The shortest delay, in seconds, with which a window shrinks."""
PATIENCE = 5.0
"""Seconds without news from the watch after which a full window allows ten writes a second."""
PARALLEL_WRITES = 128
"""Bulk writes in parallel: more than the turns of a tick, as long as watchers follow."""
_RECENT = 10.0
"""Seconds for which a measured delay is valid: nothing is measured while nothing is written."""
TICK = 0.005
"""Seconds between two batches of turns."""
BULK_TICK = 0.02
"""Seconds between two batches of turns of a bulk write: watchers do part of their work once for each batch.

kube-controller-manager looks at all nodes whenever there are new ones; etcd syncs its log, and the API
server flushes its connections.
"""
_QUICKEST = 0.02
"""The shortest time in seconds until a watch shows a write: a window is spread over at least that."""
_GENTLE = 0.1


class Window:
    """Grants turns to write; `written` and `seen` tell it the progress of the watch."""

    def __init__(
        self, *, first: int = FIRST_UNSEEN, most: int = MOST_UNSEEN, tick: float = TICK
    ) -> None:
        """Start with `first` unseen writes and allow at most `most`; needs a running event loop.

        Turns that have to wait are granted every `tick` seconds.
        """
        self._loop = asyncio.get_running_loop()
        self._size = float(first)
        self._first, self._most, self._tick = first, most, tick
        self._starting = True
        self._taken = 0
        self._unseen: list[tuple[int, float]] = []
        self._horizon = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._budget = 0.0
        """Turns that may still be granted before the next tick."""
        self._rang_at = 0.0
        self._seen_at = self._let_at = self._loop.time()
        self._shrunk_at = 0.0
        self.delay = 0.0
        """Seconds from a write to its event in the watch, when last measured."""
        self.latest = 0
        """The highest revision written."""
        self.held = 0
        """Turns that had to wait."""

    @property
    def size(self) -> int:
        """The number of writes that may be unseen."""
        return int(self._size)

    @property
    def lag(self) -> float:
        """The age in seconds of the oldest unseen write; 0 without one."""
        return self._loop.time() - self._unseen[0][1] if self._unseen else 0.0

    @property
    def behind(self) -> float:
        """The present delay of the watch in seconds: 0 if all writes were seen some time ago."""
        is_recent = self._loop.time() - self._seen_at < _RECENT
        return max(self.lag, self.delay if is_recent else 0.0)

    @property
    def unseen(self) -> int:
        """The number of granted turns whose write has not been seen."""
        return self._taken

    async def turn(self) -> None:
        """Wait for a turn; every turn must be followed by `written` or `lost`."""
        now = self._loop.time()
        if not self._waiting and now - self._rang_at >= self._tick:
            self._refill(now)
        if not self._waiting and self._budget >= 1.0 and self._taken < self._size:
            self._go()
            return
        self.held += 1
        future = self._loop.create_future()
        self._waiting.append(future)
        self._set_timer()
        try:
            await future
        except asyncio.CancelledError:
            if future.done() and not future.cancelled():
                self.lost()
            raise

    async def write(self, work: Callable[[], Awaitable[int]]) -> int:
        """Wait for a turn, do `work`, which makes one write, and return the revision that it returns."""
        await self.turn()
        try:
            revision = await work()
        except BaseException:
            self.lost()
            raise
        self.written(revision)
        return revision

    def written(self, revision: int) -> None:
        """Note the etcd revision of the write that used a turn."""
        self.latest = max(self.latest, revision)
        if revision <= self._horizon:
            self._taken -= 1
        else:
            heapq.heappush(self._unseen, (revision, self._loop.time()))

    def lost(self) -> None:
        """Note that a turn was not used for a write."""
        self._taken -= 1

    def stop(self) -> None:
        """Cancel all tasks that wait for a turn."""
        while self._waiting:
            self._waiting.popleft().cancel()

    def seen(self, revision: int) -> None:
        """Note that the watch has reached a revision: all writes up to it have been seen."""
        now = self._loop.time()
        self._horizon = max(self._horizon, revision)
        number, at = 0, now
        while self._unseen and self._unseen[0][0] <= revision:
            at = heapq.heappop(self._unseen)[1]
            number += 1
        if not number:
            return
        self._taken -= number
        self._seen_at = now
        self.delay = now - at
        self._adjust(number, now)

    def _adjust(self, number: int, now: float) -> None:
        if self.delay > LATE:
            self._starting = False
            if now - self._shrunk_at > self.delay:
                self._shrunk_at = now
                self._size = max(self._first, 0.7 * self._size)
        elif self.delay < SOON:
            self._size += number if self._starting else max(1.0, 0.05 * number)
        self._size = min(self._size, self._most)

    def _go(self) -> None:
        self._taken += 1
        self._budget -= 1.0

    def _ring(self) -> None:
        """Grant the turns of one tick together: etcd batches writes that arrive together."""
        self._timer = None
        now = self._loop.time()
        self._refill(now)
        if now - max(self._seen_at, self._let_at) > PATIENCE:
            self._let_at = now - PATIENCE + _GENTLE
            self._let_one()
        while self._waiting and self._budget >= 1.0 and self._taken < self._size:
            self._let_one()
        if self._waiting:
            self._set_timer()

    def _refill(self, now: float) -> None:
        self._rang_at = now
        self._budget = max(1.0, self._size * self._tick / max(self.delay, _QUICKEST))

    def _let_one(self) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                self._go()
                future.set_result(None)
                return

    def _set_timer(self) -> None:
        if self._timer is None:
            self._timer = self._loop.call_later(self._tick, self._ring)


async def write_until_shown(
    items: Sequence[Item],
    write: Callable[[Item], Awaitable[Written | None]],
    wait_shown: Callable[[Sequence[Written]], Awaitable[None]],
) -> None:
    """Write items, at most `MOST_UNSHOWN` of them before the API server shows the first, and wait for the last.

    `write` returns None for an item that it has not written. `wait_shown` waits until the API server
    shows the writes that it is given.
    """

    async def together(part: Sequence[Item]) -> None:
        written = await asyncio.gather(*map(write, part))
        await wait_shown([each for each in written if each is not None])

    parts = (
        items[start : start + _WRITES_PER_QUESTION]
        for start in range(0, len(items), _WRITES_PER_QUESTION)
    )
    await for_each(parts, together, at_once=MOST_UNSHOWN // _WRITES_PER_QUESTION)
