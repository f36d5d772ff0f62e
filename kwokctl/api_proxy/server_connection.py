"""A connection to the API server: what it answers is passed on as it comes, and its end is found by a parser."""

import asyncio

import httptools

from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import MALFORMED, Wire

_HIGH_WATER = 512 * 1024
_SWITCHING = 101


class ServerConnection(Wire):
    """Carries one request after another, whose answers stay bytes."""

    __slots__ = (
        "_asks_for_head", "_error", "_news", "_pieces", "_size", "_writable", "has_answered",
        "is_kept", "is_tunnel", "is_whole",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0
        self._asks_for_head = False
        self.has_answered = False
        """Whether the status of the present answer is known."""
        self.is_whole = True
        """Whether the last answer has come to its end."""
        self.is_kept = True
        """Whether another request may follow."""
        self.is_tunnel = False
        """Whether no HTTP follows any more: the server has switched to another protocol."""
        self._error: ApiError | None = None
        self._news: asyncio.Future[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()

    def begin(self, *, asks_for_head: bool) -> None:
        """Expect the answer to another request; of `asks_for_head` it has no body."""
        self._parser = httptools.HttpResponseParser(self)
        self._headers = []
        self._asks_for_head = asks_for_head
        self.has_answered = False
        self._in_body = self.is_whole = self.is_kept = self.heard = False

    async def send(self, data: bytes) -> None:
        """Write; waits while the server does not take what was written before. Raises ApiError if it is gone."""
        if self._transport is None:
            raise self._error or ApiError("the API server has closed the connection", status=0)
        self._transport.write(data)
        if not self._writable.is_set():
            await self._writable.wait()

    @property
    def status(self) -> int:
        """The status of the answer, once it has one."""
        return int(self._parser.get_status_code())

    async def read(self) -> bytes:
        """Return what has come, at least a byte; b"" at the end of the answer. Raises ApiError if it breaks off."""
        while not self._pieces:
            if self.is_whole:
                return b""
            if self._error is not None:
                raise self._error
            self._news = asyncio.get_running_loop().create_future()
            try:
                await self._news
            finally:
                self._news = None
        pieces, self._pieces = self._pieces, []
        if self._size > _HIGH_WATER and self._transport is not None:
            self._transport.resume_reading()
        self._size = 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def data_received(self, data: bytes) -> None:
        """Keep what has come, and look for the end of the answer."""
        self.heard = True
        if self.is_whole and not self.is_tunnel:
            self.close()  # nothing was asked: as when the server says that it waits no longer
            return
        was_low = self._size <= _HIGH_WATER
        self._pieces.append(data)
        self._size += len(data)
        if was_low and self._size > _HIGH_WATER and self._transport is not None:
            self._transport.pause_reading()
        if not self.is_tunnel:
            self._parse(data)
        self._wake()

    def _parse(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.is_tunnel = True
        except httptools.HttpParserError as e:  # with few headers, an upgrade is one, too
            if not (self.is_whole or self.is_tunnel):
                why = f"the API server's answer is not HTTP: {e}"
                self.fail(ApiError(why, status=0, reason=MALFORMED))

    def on_headers_complete(self) -> None:
        """Note that the body begins, or that there is none."""
        self._in_body = True
        status = self.status
        self.has_answered = status >= 200 or status == _SWITCHING
        if status == _SWITCHING:
            self.is_tunnel = True
        elif self._asks_for_head and status >= 200:
            self._end()

    def on_message_complete(self) -> None:
        """Note the end, unless more is to come."""
        if self.status >= 200:
            self._end()
        self._in_body = False
        self._headers = []

    def _end(self) -> None:
        self.is_kept = self._parser.should_keep_alive()
        self.is_whole = True
        self._wake()

    def fail(self, error: ApiError) -> None:
        """Give up the connection; the reader learns it after all that has come before."""
        self.close()
        self.is_kept = False
        if self.is_tunnel:
            self.is_whole = True
        if self._error is None:
            self._error = error
        self._writable.set()
        self._wake()

    def pause_writing(self) -> None:
        """Let writers wait."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._writable.set()

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)
