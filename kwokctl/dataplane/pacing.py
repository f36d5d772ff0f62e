"""Limits writers past the API server to the rate that a cluster's watchers can follow.

The API server ends a watcher whose queue is full; on a young cluster that queue holds ten events
only (k8s.io/apiserver, `storage/cacher`: capacity of the watch cache over 75 s, at least 10). There
are two ways, because writers differ in what they know:

- A rate, by `Window`: the controller has a watch on what it writes, and `scale` asks the controller
  how far that watch has come. Such a writer starts with few writes that the watch has not shown yet,
  has more of them as long as they come back soon, and fewer when they come late: the rate is the
  window over the delay.
- A barrier, by `write_until_shown`: a rewind and a restore have no watch, and would have to begin one
  for each kind. They have to know anyway when the API server shows the last write, before they
  compare again or end. So they write some objects, and ask the API server for the last of them.

kectl and its replay keep no pace: often there is no API server.
"""

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kwokctl.tasks import for_each

Item = TypeVar("Item")
Written = TypeVar("Written")

UNSHOWN = 64
"""Writes that the API server has not shown yet, of a writer that asks it."""
_TOGETHER = 32
"""Writes after which it is asked: others are made meanwhile."""
FIRST = 32
"""Unseen writes at the start."""
MOST = 2000
"""Unseen writes at most: the longest queue of a watcher is 1,000, and half of them are on their way."""
SOON = 0.15
"""Seconds of delay up to which the window grows."""
LATE = 0.5
"""Seconds of delay from which it shrinks."""
PATIENCE = 5.0
"""Seconds in which the watch shows none of our writes after which one a tenth of a second is let through."""
AT_ONCE = 128
"""Writes of a bulk under way at a time: more than there are turns in a tick, as long as watchers follow."""
_RECENT = 10.0
"""Seconds for which a measured delay says something: no more is measured while nothing is written."""
TICK = 0.005
"""Seconds between the turns that are handed out together."""
BULK_TICK = 0.02
"""The same for many objects: whatever follows them does part of its work once for each burst, not for each object.

kube-controller-manager looks at all nodes whenever some are new; etcd syncs its log, and the API server
flushes its connections.
"""
_QUICKEST = 0.02
"""Seconds until the watch shows a write at best: a window is spread over no less."""
_GENTLE = 0.1


class Window:
    """Hands out turns to write; `written` and `seen` report how the watch follows."""

    def __init__(self, *, first: int = FIRST, most: int = MOST, tick: float = TICK) -> None:
        """Start with `first` unseen writes; must be called where an event loop runs.

        Turns that have to be waited for are handed out every `tick` seconds.
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
        """Turns that may still be given before the next tick."""
        self._rang_at = 0.0
        self._seen_at = self._let_at = self._loop.time()
        self._shrunk_at = 0.0
        self.delay = 0.0
        """Seconds from a write to its event in the watch, as last measured."""
        self.latest = 0
        """The highest revision written."""
        self.held = 0
        """Turns that had to be waited for."""

    @property
    def size(self) -> int:
        """How many writes may be unseen."""
        return int(self._size)

    @property
    def lag(self) -> float:
        """How many seconds ago the oldest write was made that has not been seen; 0 without one."""
        return self._loop.time() - self._unseen[0][1] if self._unseen else 0.0

    @property
    def behind(self) -> float:
        """How many seconds late the watch is now: 0 if all was seen, some time ago."""
        is_recent = self._loop.time() - self._seen_at < _RECENT
        return max(self.lag, self.delay if is_recent else 0.0)

    @property
    def unseen(self) -> int:
        """How many turns have been given whose write has not been seen."""
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
        """Wait for a turn and do `work`, one write that returns its revision; returns that, too."""
        await self.turn()
        try:
            revision = await work()
        except BaseException:
            self.lost()
            raise
        self.written(revision)
        return revision

    def written(self, revision: int) -> None:
        """Note the etcd revision of the write that a turn was taken for."""
        self.latest = max(self.latest, revision)
        if revision <= self._horizon:
            self._taken -= 1
        else:
            heapq.heappush(self._unseen, (revision, self._loop.time()))

    def lost(self) -> None:
        """Note that the write of a turn was not made."""
        self._taken -= 1

    def stop(self) -> None:
        """Cancel all tasks that wait for a turn."""
        while self._waiting:
            self._waiting.popleft().cancel()

    def seen(self, revision: int) -> None:
        """Note that the watch has come to a revision: all writes up to it have been seen."""
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
        """Hand out the turns of one tick together: etcd batches writes that arrive together."""
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
    """Write items, at most `UNSHOWN` of them before the API server shows the first, and wait for the last.

    `write` returns None for an item that it has not written. `wait_shown` waits until the API server
    shows what has been written.
    """

    async def together(part: Sequence[Item]) -> None:
        written = await asyncio.gather(*map(write, part))
        await wait_shown([each for each in written if each is not None])

    parts = (items[start : start + _TOGETHER] for start in range(0, len(items), _TOGETHER))
    await for_each(parts, together, at_once=UNSHOWN // _TOGETHER)
