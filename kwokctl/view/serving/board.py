"""The present content of the page, and the streams of what changes on it.

Each part is encoded once, however many pages are open. A stream sends what it has not sent yet when its client takes it: a client that
is slow gets fewer updates, and nothing waits for it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator

import msgspec

from kwokctl.embedded.http.messages import RefusedError
from kwokctl.measure.pages.join import safe_json
from kwokctl.measure.pages.page_data import PageData

MOST_STREAMS = 16
"""Pages that may follow at a time."""
_IDLE = 15.0
"""Seconds without an event after which a comment shows that the stream is there."""
_KEPT = 240
"""Changes of one item that are kept for streams that are late: those of two minutes."""
_encode = msgspec.json.Encoder().encode


class _Whole(msgspec.Struct):
    """A part of the page that is sent whole when it changes."""

    version: int
    value: msgspec.Struct
    event: bytes

    def since(self, version: int) -> Iterator[bytes]:
        if self.version > version:
            yield self.event


class _Patched(msgspec.Struct):
    """An item of which only what has changed is sent, as long as that is kept."""

    version: int
    make: Callable[[], msgspec.Struct]
    patches: deque[tuple[int, bytes]]

    def add(self, version: int, event: bytes) -> None:
        if len(self.patches) == _KEPT:
            self.version, _ = self.patches.popleft()
        self.patches.append((version, event))

    def since(self, version: int) -> Iterator[bytes]:
        if self.version > version:
            yield event_of("item", self.make())
            return
        for each, event in self.patches:
            if each > version:
                yield event


class Board:
    """The parts of the page by their names, and the clients that follow them."""

    def __init__(self, page: Callable[[], PageData]) -> None:
        """Send what `page` returns to each client that begins to follow."""
        self._page = page
        self._parts: dict[str, _Whole | _Patched] = {}
        self._version = 0
        self._news = asyncio.Event()
        self.streams = 0
        """The number of clients that follow."""

    def put(self, name: str, value: msgspec.Struct, event: str = "item") -> None:
        """Send a value if it differs from what was put under this name before."""
        data = event_of(event, value)
        known = self._parts.get(name)
        if not isinstance(known, _Whole) or known.event != data:
            self._parts[name] = _Whole(self._next(), value, data)

    def put_patched(self, name: str, make: Callable[[], msgspec.Struct]) -> None:
        """Send the item that `make` returns; `patch` gets what changes from now on."""
        self._parts[name] = _Patched(self._next(), make, deque())

    def patch(self, name: str, change: msgspec.Struct) -> None:
        """Send a change of an item."""
        part = self._parts[name]
        assert isinstance(part, _Patched)
        part.add(self._next(), event_of("patch", change))

    def publish(self) -> None:
        """Wake the streams: all that has changed at a time is there."""
        news, self._news = self._news, asyncio.Event()
        news.set()

    def follow(self) -> AsyncIterator[bytes]:
        """Return the events for one client: the whole page, then what changes, for ever.

        Raises RefusedError if too many clients follow.
        """
        if self.streams >= MOST_STREAMS:
            raise RefusedError(503, f"{MOST_STREAMS} pages follow already: close one of them")
        return self._follow()

    async def _follow(self) -> AsyncIterator[bytes]:
        self.streams += 1
        try:
            first = event_of("page", self._page())
            sent = self._version
            yield b"retry: 2000\n\n" + first
            while True:
                news, found = self._news, b"".join(self._since(sent))
                sent = self._version
                if found:
                    yield found
                elif not await _within(news, _IDLE):
                    yield b": nothing has changed\n\n"
        finally:
            self.streams -= 1

    def _since(self, version: int) -> Iterator[bytes]:
        for part in self._parts.values():
            yield from part.since(version)

    def _next(self) -> int:
        self._version += 1
        return self._version


def event_of(name: str, value: msgspec.Struct) -> bytes:
    """Write a server-sent event; its JSON has no line breaks, and no characters that hide or reorder text."""
    data = _encode(value)
    if not data.isascii() or b"\x7f" in data:
        data = safe_json(value).encode()
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


async def _within(news: asyncio.Event, seconds: float) -> bool:
    """Wait for news; False if there is none in time."""
    try:
        async with asyncio.timeout(seconds):
            await news.wait()
    except TimeoutError:
        return False
    return True
