"""HTTP/1.1 connections: a parser reads what is received, and one request follows another."""

import asyncio
import select
from typing import cast

import httptools
import msgspec

from kwokctl.errors import ApiError

BY_SERVER = "the server closed it"

TIMEOUT, LOST, MALFORMED = "Timeout", "ConnectionLost", "MalformedAnswer"
UNTRUSTED, TLS_FAILED = "Untrusted", "TlsFailed"
REFUSED, UNREACHABLE = "Refused", "Unreachable"
"""Reasons of an ApiError with status 0: no answer came."""


class Response(msgspec.Struct, frozen=True):
    """A whole answer."""

    status: int
    body: bytes
    headers: list[tuple[bytes, bytes]]
    """As they came, in order."""

    def header(self, name: bytes) -> str | None:
        """Return the first header called `name` (lower case), or None."""
        for key, value in self.headers:
            if key.lower() == name:
                return value.decode("latin-1")
        return None


def lost(why: str) -> ApiError:
    """Return the error for a connection that ended too early."""
    return ApiError(f"the connection to the API server was lost: {why}", status=0, reason=LOST)


class Wire(asyncio.Protocol):
    """Feeds received bytes to a parser; its subclasses handle what the parser reports."""

    __slots__ = ("_headers", "_in_body", "_parser", "_transport", "gone", "heard")

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._headers: list[tuple[bytes, bytes]] = []
        self._in_body = False
        self.gone = asyncio.Event()
        """Set once the connection is over."""
        self.heard = False
        """Whether any byte of the answer has come."""

    @property
    def is_connected(self) -> bool:
        """Whether the connection is not over yet."""
        return self._transport is not None

    @property
    def is_open(self) -> bool:
        """Whether a request may still be sent."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport for writing."""
        # uvloop's transports do not derive from asyncio's.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Parse; the parser calls the `on_` methods."""
        self.heard = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as e:
            why = f"the API server's answer is not HTTP: {e}"
            self.fail(ApiError(why, status=0, reason=MALFORMED))

    def connection_lost(self, exc: Exception | None) -> None:
        """End the answer if its end is the connection's, else fail."""
        self._transport = None
        self.gone.set()
        if self._in_body and exc is None and not self._is_framed():
            self.on_message_complete()
        self.fail(lost(str(exc) if exc else BY_SERVER))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Note that the body begins."""
        self._in_body = True

    def on_message_complete(self) -> None:
        """Note that the answer is whole."""
        raise NotImplementedError

    def fail(self, error: ApiError) -> None:
        """Give up the connection, and give the error to the caller that waits."""
        raise NotImplementedError

    def close(self) -> None:
        """Drop the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def _is_framed(self) -> bool:
        """Return whether the answer itself marks its end; else the connection's end does."""
        framing = (b"content-length", b"transfer-encoding")
        return any(name.lower() in framing for name, _ in self._headers)


class HttpConnection(Wire):
    """Carries one request after another."""

    __slots__ = ("_chunks", "_waiter", "deadline", "idle_since", "is_reusable")

    def __init__(self) -> None:
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
        """Give up the connection, and give the error to the caller that waits for an answer."""
        self.close()
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_exception(error)
