"""Jobs that wait for a free worker: many in flight, one at a time for each job."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class BatchQueue(Generic[T]):
    """A first-in, first-out queue and the workers that empty it, several items at a time."""

    def __init__(
        self, work: Callable[[Sequence[T]], Awaitable[None]], workers: int, *, most: int
    ) -> None:
        """Do `work` for at most `most` items together, at most `workers` times at once."""
        self._work = work
        self._workers = workers
        self._most = most
        self._items: deque[T] = deque()
        self._idle: deque[asyncio.Future[None]] = deque()

    def __len__(self) -> int:
        """Count the items that no worker has taken yet."""
        return len(self._items)

    def put(self, item: T) -> None:
        """Add an item."""
        self._items.append(item)
        while self._idle:
            waiting = self._idle.popleft()
            if not waiting.done():
                waiting.set_result(None)
                break

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for _ in range(self._workers):
                tasks.create_task(self._worker())

    async def _worker(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while not self._items:
                waiting: asyncio.Future[None] = loop.create_future()
                self._idle.append(waiting)
                await waiting
            items = [self._items.popleft()]
            while self._items and len(items) < self._most:
                items.append(self._items.popleft())
            await self._work(items)


def work_queue(work: Callable[[T], Awaitable[None]], workers: int) -> BatchQueue[T]:
    """Return a queue whose workers do `work` for one item at a time, `workers` times at once."""
    return BatchQueue(lambda items: work(items[0]), workers, most=1)
