"""A kept-alive HTTP/1.1 connection: it carries one request after another."""

import asyncio
import select

from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import BY_SERVER, Response, Wire, lost


class HttpConnection(Wire):
    """Carries one request after another."""

    __slots__ = ("_chunks", "_waiter", "deadline", "idle_since", "is_reusable")

    def __init__(self) -> None:
        """Wait to be connected."""
        super().__init__()
        self._chunks: list[bytes] = []
        self._waiter: asyncio.Future[Response] | None = None
        self.is_reusable = False
        """Whether another request may follow the last one."""
        self.deadline = 0.0
        self.idle_since = 0.0

    def has_news(self) -> bool:
        """Look whether an idle connection has something to read: the end of it, that is."""
        assert self._transport is not None
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def send(self, request: bytes, waiter: asyncio.Future[Response]) -> None:
        """Send a request; its answer, or what went wrong, goes to `waiter`."""
        self.heard = self.is_reusable = False
        if self._transport is None:
            waiter.set_exception(lost(BY_SERVER))
            return
        self._waiter = waiter
        self._transport.write(request)

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body."""
        self._chunks.append(data)

    def on_message_complete(self) -> None:
        """Hand the answer over."""
        headers, self._headers = self._headers, []
        chunks, self._chunks = self._chunks, []
        self._in_body = False
        status = self._parser.get_status_code()
        if status < 200:
            return
        waiter, self._waiter = self._waiter, None
        if waiter is None:
            self.close()
            return
        self.is_reusable = self._parser.should_keep_alive()
        self.heard = False
        if not waiter.done():
            body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
            waiter.set_result(Response(status, body, headers))

    def fail(self, error: ApiError) -> None:
        """Give up the connection and tell whoever waits for an answer."""
        self.close()
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
