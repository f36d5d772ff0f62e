"""Serves connections: each request is admitted, and answered by the route of its path.

Every local user can dial the port: sizes and times are bounded, and so are the connections of
clients that have not shown a credential.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from kwokctl.errors import ApiError
from kwokctl.kubelet.http import encoding
from kwokctl.kubelet.http.connection import ServedConnection
from kwokctl.kubelet.http.listening import accepted, connected
from kwokctl.kubelet.http.messages import Answer, RefusedError, Request
from kwokctl.kubelet.http.parsing import ParsedRequest
from kwokctl.kubelet.http.routes import Route, RouteTable

log = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds that a client without a credential has for its next request."""
_IDLE_AT_MOST = 300.0
_MOST_STRANGERS = 500
"""Connections of clients that have not shown a credential; well below what a process may have open."""
_MANY_STRANGERS, _PAUSE = 100, 0.005
"""From so many on they come so many seconds apart: a client of thousands of nodes opens a connection
wherever none is free, and those that it has already get on better than new ones."""

Certificate = Mapping[str, Any] | None
Admit = Callable[[Request, Certificate], Awaitable[None]]
"""Raises RefusedError for a client that has not the right to what it asks for."""
Count = Callable[[str, int], None]
"""Is called with the path of a route, empty if there is none, and the status of the answer; 101 for a
connection that was taken over."""


class KubeletServer:
    """Listens until cancelled."""

    def __init__(self, routes: RouteTable, admit: Admit, count: Count = lambda *_: None) -> None:
        """Answer by `routes` what `admit` lets pass."""
        self._routes = routes
        self._admit = admit
        self._count = count
        self._strangers: dict[ServedConnection, asyncio.Task[object] | None] = {}
        """With the tasks that serve them, oldest first."""
        self.connections = 0
        """How many there are now."""

    async def run(self, listening: Sequence[socket.socket], tls: ssl.SSLContext | None) -> None:
        """Serve the connections of these sockets until cancelled; close them in the end."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for each in listening:
                    tasks.create_task(self._accept(each, tls, tasks))
        finally:
            for each in listening:
                each.close()

    async def _accept(
        self, listening: socket.socket, tls: ssl.SSLContext | None, tasks: asyncio.TaskGroup
    ) -> None:
        async with aclosing(accepted(listening)) as connections:
            async for found in connections:
                tasks.create_task(self.serve(found, tls))
                if len(self._strangers) > _MANY_STRANGERS:
                    await asyncio.sleep(_PAUSE)

    async def serve(
        self, found: socket.socket, tls: ssl.SSLContext | None, local_host: str = ""
    ) -> None:
        """Serve a connection until it ends; `local_host` is what was dialled, if that is known."""
        connection = ServedConnection(local_host)
        self.connections += 1
        self._admit_stranger(connection)
        try:
            if await connected(found, connection, tls):
                while await self._serve_one(connection):
                    pass
        except (ConnectionError, TimeoutError):
            pass
        except Exception:  # as above
            log.exception("a connection has failed")
        finally:
            self.connections -= 1
            self._strangers.pop(connection, None)
            await connection.close()

    def _admit_stranger(self, connection: ServedConnection) -> None:
        """Count a connection; if there are too many, the oldest one is closed."""
        if len(self._strangers) >= _MOST_STRANGERS:
            oldest = next(iter(self._strangers))
            task = self._strangers.pop(oldest)
            oldest.abort()
            if task is not None:  # it may not even be connected yet
                task.cancel()
        self._strangers[connection] = asyncio.current_task()

    async def _serve_one(self, connection: ServedConnection) -> bool:
        """Answer a request; False if it is the connection's last."""
        patience = _PATIENCE if connection in self._strangers else _IDLE_AT_MOST
        try:
            async with asyncio.timeout(patience):
                parsed = await connection.next()
        except RefusedError as e:
            answer = encoding.refusal(e)
            await connection.send(_whole(answer, with_body=True, is_kept=False))
            return False
        return parsed is not None and await self._respond(connection, parsed)

    async def _respond(self, connection: ServedConnection, parsed: ParsedRequest) -> bool:
        request = parsed.request
        found = self._routes.find(request.path)
        try:
            route = await self._admitted(connection, request, found)
            if route.take_over is not None:
                await self._hand_over(connection, request, route)
                return False
            answer = await _answer(route, request)
        except RefusedError as e:
            answer = encoding.refusal(e)
        except ApiError as e:
            answer = encoding.refusal(RefusedError(503, str(e)))
        except Exception:  # one request must not end the others
            log.exception("'%s %s' has failed", request.method, request.path)
            answer = encoding.refusal(
                RefusedError(500, "the kubelet server has failed: see its log")
            )
        self._count("" if found is None else found.path, answer.status)
        return await _write(connection, parsed, answer)

    async def _admitted(
        self, connection: ServedConnection, request: Request, route: Route | None
    ) -> Route:
        """Return the route of a request; RefusedError if there is none, or no right to it."""
        if route is None or not route.is_open:
            # Before anything is said of a path, also that there is none.
            await self._admit(request, connection.certificate)
            self._strangers.pop(connection, None)
        if route is None:
            raise RefusedError(404, "not found")
        if _method(request) not in route.methods:
            raise RefusedError(405, "method not allowed")
        return route

    async def _hand_over(
        self, connection: ServedConnection, request: Request, route: Route
    ) -> None:
        assert route.take_over is not None
        connection.take_over()
        try:
            await route.take_over(request, connection)
        except (RefusedError, ApiError) as e:
            error = e if isinstance(e, RefusedError) else RefusedError(503, str(e))
            self._count(route.path, error.status)
            answer = encoding.refusal(error)
            await connection.send(_whole(answer, with_body=True, is_kept=False))
        else:
            self._count(route.path, 101)


async def _answer(route: Route, request: Request) -> Answer:
    assert route.answer is not None
    return await route.answer(request)


def _method(request: Request) -> str:
    return "GET" if request.method == "HEAD" else request.method


async def _write(connection: ServedConnection, parsed: ParsedRequest, answer: Answer) -> bool:
    """Write an answer; False if the connection ends with it."""
    with_body = parsed.request.method != "HEAD"
    is_kept = parsed.is_kept and not parsed.wants_upgrade
    if isinstance(answer.body, bytes):
        await connection.send(_whole(answer, with_body=with_body, is_kept=is_kept))
        return is_kept
    # A request that may be followed is one of HTTP/1.1.
    head = encoding.stream_head(answer, in_chunks=is_kept, is_kept=is_kept)
    await _write_pieces(connection, head, answer.body if with_body else None, in_chunks=is_kept)
    return is_kept


async def _write_pieces(
    connection: ServedConnection,
    head: bytes,
    pieces: AsyncIterator[bytes] | None,
    *,
    in_chunks: bool,
) -> None:
    """Write a body as it comes; its producer is cancelled when the client goes."""
    connection.cancel_when_lost(asyncio.current_task())
    try:
        await connection.send(head)
        if pieces is not None:
            async for piece in pieces:
                if piece:
                    await connection.send(encoding.chunk(piece) if in_chunks else piece)
        if in_chunks and pieces is not None:
            await connection.send(encoding.LAST_CHUNK)
    finally:
        connection.cancel_when_lost(None)
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


def _whole(answer: Answer, *, with_body: bool, is_kept: bool) -> bytes:
    assert isinstance(answer.body, bytes)
    return encoding.whole(answer, answer.body, with_body=with_body, is_kept=is_kept)
