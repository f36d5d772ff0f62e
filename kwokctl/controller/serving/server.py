"""Serves routes over plain HTTP, to clients that have the right to each.

Every local user can dial the port: all sizes are bounded, and so is the time that a request takes.
What is posted must be called JSON: a page that a browser shows cannot send that unasked
(https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
"""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress

from kwokctl.controller.serving.routes import JSON, Authorizer, HttpResponse, HttpRoute, Right
from kwokctl.errors import UnavailableError

log = logging.getLogger(__name__)

_LONGEST_HEAD = 16 * 1024
_LONGEST_BODY = 4 * 1024 * 1024
_PATIENCE = 10.0
"""Seconds for a whole request, and to take its answer."""
_MOST_STRANGERS = 500
"""Connections of clients that have not shown a credential; well below what a process may have open."""


class Server:
    """Listens, and answers each request by the route of its method and path."""

    def __init__(self, routes: Sequence[HttpRoute], authorizer: Authorizer) -> None:
        """Answer by `routes` the clients to which `authorizer` gives the right."""
        self._routes = {(route.method, route.path): route for route in routes}
        self._authorizer = authorizer
        self._strangers: dict[asyncio.StreamWriter, None] = {}
        """Oldest first."""
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen at a port of one host, or of several with commas between them.

        Raises UnavailableError if an address is taken or does not exist.
        """
        try:
            self._server = await asyncio.start_server(
                self._serve, host.split(","), port, limit=_LONGEST_HEAD, reuse_address=True
            )
        except OSError as e:
            raise UnavailableError(
                f"cannot serve on '{host}:{port}': {e.strerror}",
                hint="give another address with --server-address",
            ) from e

    @property
    def port(self) -> int:
        """Return the port that is listened on, 0 before `start`."""
        return self._server.sockets[0].getsockname()[1] if self._server is not None else 0

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._admit(writer)
        try:
            while await self._serve_one(reader, writer):
                pass
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            await _end(writer)
            self._strangers.pop(writer, None)

    def _admit(self, writer: asyncio.StreamWriter) -> None:
        """Count a connection; if there are too many, the oldest one is closed."""
        if len(self._strangers) >= _MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            del self._strangers[oldest]
            oldest.transport.abort()
        self._strangers[writer] = None

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; False if it is the connection's last."""
        async with asyncio.timeout(_PATIENCE):
            request = _Request(await reader.readuntil(b"\r\n\r\n"))
            response = await self._answer(request, reader, writer)
            # What is refused may come with a body that has not been read.
            is_kept = response.status in (200, 503) and request.may_be_followed
            with_body = request.method != "HEAD"
            writer.write(response.encoded(with_body=with_body, is_kept=is_kept))
            await writer.drain()
        return is_kept

    async def _answer(
        self, request: "_Request", reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> HttpResponse:
        method, path = request.method, request.path
        route = self._routes.get(("GET" if method == "HEAD" else method, path))
        if route is None:
            is_known = any(known == path for _, known in self._routes)
            return _WRONG_METHOD if is_known or method not in {"GET", "HEAD"} else _UNKNOWN
        # Before anything of a body is read.
        if not self._authorizer.allows(route.right, request.header(b"authorization")):
            return _UNAUTHORIZED
        if route.right is not Right.NONE:
            self._strangers.pop(writer, None)
        if route.method == "GET":
            return await route.answer(b"")
        if request.header(b"content-type").partition(b";")[0].strip() != JSON.encode():
            return _NO_JSON
        length = request.body_length
        if length is None:
            return _TOO_LONG
        return await route.answer(await reader.readexactly(length))


class _Request:
    """The head of a request, as far as it can be read."""

    def __init__(self, head: bytes) -> None:
        self._first, *self._lines = head.split(b"\r\n")
        self._words = self._first.decode("latin-1").split(" ")
        is_whole = len(self._words) > 1
        self.method = self._words[0] if is_whole else ""
        self.path = self._words[1].split("?")[0] if is_whole else ""

    def header(self, name: bytes) -> bytes:
        """Return the value of a header, empty if there is none; `name` is in lower case."""
        for line in self._lines:
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip()
        return b""

    @property
    def body_length(self) -> int | None:
        """How long the body is; None if that is missing or too much."""
        text = self.header(b"content-length")
        # Python itself refuses numbers of thousands of digits.
        length = int(text) if text.isdigit() and len(text) < 10 else _LONGEST_BODY + 1
        return length if length <= _LONGEST_BODY else None

    @property
    def may_be_followed(self) -> bool:
        """Whether the connection may carry another request after this one."""
        if self._words[-1] != "HTTP/1.1" or self.header(b"connection").lower() == b"close":
            return False
        return self.method == "POST" or not self.header(b"content-length")


_UNKNOWN = HttpResponse(404, "not found\n")
_WRONG_METHOD = HttpResponse(405, "method not allowed\n")
_UNAUTHORIZED = HttpResponse(
    401,
    "show the token of --server-token-file: 'Authorization: Bearer TOKEN'\n",
    headers=("WWW-Authenticate: Bearer",),
)
_NO_JSON = HttpResponse(415, f"the body must be {JSON}\n")
_TOO_LONG = HttpResponse(413, "the body is too long, or its length is missing\n")


async def _end(writer: asyncio.StreamWriter) -> None:
    """Close a connection; a client that does not take what was written for it loses that."""
    writer.close()
    with suppress(OSError, asyncio.CancelledError):
        try:
            async with asyncio.timeout(_PATIENCE):
                await writer.wait_closed()
        except TimeoutError:
            writer.transport.abort()
