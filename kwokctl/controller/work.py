"""Jobs that wait for a free worker: many in flight, one at a time for each job."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class WorkQueue(Generic[T]):
    """A first-in, first-out queue and the workers that empty it."""

    def __init__(self, work: Callable[[T], Awaitable[None]], workers: int) -> None:
        """Do `work` for each item, at most `workers` at a time."""
        self._work = work
        self._workers = workers
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
            await self._work(self._items.popleft())
