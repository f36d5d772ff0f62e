"""Lists several kinds at a time, page by page, no faster than it may."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial

import msgspec

from kwokctl.errors import ApiError
from kwokctl.kube.collections.paging import ListPage, ListQuery, one_page
from kwokctl.kube.served_kinds import ServedKind
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import has_forgotten
from kwokctl.retry import retried
from kwokctl.tasks import beside

PARALLEL_KINDS = 4
PAGE_SIZE, PAGES_AHEAD = 500, 10


class ReadOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options for reading an API server."""

    page_size: int = PAGE_SIZE
    """Objects in an answer; 0 asks for all at once."""
    pages_ahead: int = PAGES_AHEAD
    """Pages of a kind that are read before they are needed."""
    qps: float = 0.0
    """Requests a second at the most; 0 for no bound."""


class PagePlace(msgspec.Struct, frozen=True, kw_only=True):
    """The position of an export: a kind, and the token of its next page."""

    kind: int = 0
    token: str = ""


class KindPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a kind."""

    kind: int
    content: ListPage
    is_first: bool

    @property
    def next(self) -> PagePlace:
        """The place behind it."""
        token = self.content.metadata.next_page
        return PagePlace(kind=self.kind, token=token) if token else PagePlace(kind=self.kind + 1)


class RequestPace:
    """Spreads requests evenly."""

    def __init__(self, qps: float, clock: Callable[[], float]) -> None:
        """Allow `qps` requests a second, any number if it is 0."""
        self._pause = 1 / qps if qps else 0.0
        self._clock = clock
        self._next = 0.0

    async def turn(self) -> None:
        """Wait until the next request may go."""
        now = self._clock()
        mine = max(now, self._next)
        self._next = mine + self._pause
        if mine > now:
            await asyncio.sleep(mine - now)


class Listing:
    """Reads the kinds of a snapshot."""

    def __init__(self, pool: Pool, kinds: Sequence[ServedKind], reading: ReadOptions) -> None:
        """Ask through `pool`; must be called where an event loop runs."""
        self._pool = pool
        self._kinds = kinds
        self._reading = reading
        self._pace = RequestPace(reading.qps, asyncio.get_running_loop().time)

    async def pages(self, start: PagePlace) -> AsyncIterator[KindPage]:
        """Yield the pages of all kinds in their order, from a place on; the next ones are on their way.

        A page that is the first of its kind may come again: when reading took so long that the rest
        has been forgotten, the kind is read again.
        """
        numbers = range(start.kind, len(self._kinds))
        queues = [asyncio.Queue[KindPage](max(1, self._reading.pages_ahead)) for _ in numbers]
        slots = asyncio.Semaphore(PARALLEL_KINDS)
        readers = []
        for number, queue in zip(numbers, queues, strict=True):
            token = start.token if number == start.kind else ""
            readers.append(self._read(number, token, queue, slots))
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(beside(*readers))
            for number, queue in zip(numbers, queues, strict=True):
                while True:
                    page = await queue.get()
                    yield page
                    if page.next.kind > number:
                        break

    async def _read(
        self, number: int, token: str, queue: asyncio.Queue[KindPage], slots: asyncio.Semaphore
    ) -> None:
        async with slots:
            while True:
                is_first = not token
                try:
                    content = await retried(partial(self._page, number, token))
                except ApiError as e:
                    if is_first or not has_forgotten(e):
                        raise
                    token = ""
                    continue
                await queue.put(KindPage(kind=number, content=content, is_first=is_first))
                token = content.metadata.next_page
                if not token:
                    return

    async def _page(self, number: int, token: str) -> ListPage:
        await self._pace.turn()
        query = ListQuery(resource=self._kinds[number].resource)
        size = str(self._reading.page_size) if self._reading.page_size else ""
        words = {"limit": size, "continue": token}
        return await one_page(self._pool, query.path(**words))
