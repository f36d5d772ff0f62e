"""Serves connections: each request is admitted, and answered by the route of its path.

Every local user can dial a port: what a client without a credential may ask is bounded (`client_limits`), and
no client keeps others waiting longer than one request takes.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kwokctl.embedded.http.answer_bytes import (
    LAST_CHUNK,
    chunk_of,
    head_of_stream,
    refusal_of,
    whole_answer,
)
from kwokctl.embedded.http.listening import connected, serve_each
from kwokctl.embedded.http.messages import Answer, NoAnswerError, RefusedError, Request
from kwokctl.embedded.http.parsing import ClientGoneError, RequestHead
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.embedded.http.served_connection import BUFFER_BYTES, ServedConnection
from kwokctl.embedded.http.strangers import Strangers
from kwokctl.errors import ApiError

log = logging.getLogger(__name__)

Certificate = Mapping[str, Any] | None
Admit = Callable[[Request, Certificate], Awaitable[None]]
"""Raises RefusedError for a client that has not the right to what it asks for; gets requests without query and
body."""
Count = Callable[[str, int], None]
"""Is called with the path of a route, empty if there is none, and the status of the answer; 101 for a
connection that was taken over."""


class HttpServer:
    """Listens until cancelled."""

    def __init__(
        self,
        routes: RouteTable,
        admit: Admit,
        count: Count = lambda *_: None,
        *,
        owner: int | None = None,
    ) -> None:
        """Answer by `routes` what `admit` lets pass.

        With `owner`, the id of the only user for whom it is, connections of others are closed at once while strangers are many.
        """
        self._routes = routes
        self._admit = admit
        self._count = count
        self._strangers = Strangers(owner)
        self._buffer = bytearray(BUFFER_BYTES)
        self.connections = 0
        """The present number of connections."""

    async def run(self, listening: Sequence[socket.socket], tls: ssl.SSLContext | None) -> None:
        """Serve the connections of these sockets until cancelled; close them in the end."""
        await serve_each(listening, partial(self.serve, tls=tls), self._strangers)

    async def serve(
        self, found: socket.socket, tls: ssl.SSLContext | None, local_host: str = ""
    ) -> None:
        """Serve a connection until it ends; `local_host` is what was dialled, if that is known."""
        connection = ServedConnection(self._buffer, local_host)
        self.connections += 1
        self._strangers.add(connection)
        try:
            if await connected(found, connection, tls):
                await self._serve(connection)
        except OSError:  # the client is gone, or too slow, or gets no answer
            pass
        except Exception:  # one connection must not end the others
            log.exception("a connection has failed")
        finally:
            self.connections -= 1
            self._strangers.remove(connection)
            connection.abort()

    async def _serve(self, connection: ServedConnection) -> None:
        if connection.certificate is not None:
            self._know(connection)
        while await self._serve_one(connection):
            pass
        async with asyncio.timeout(connection.limits.patience):
            await connection.end()

    def _know(self, connection: ServedConnection) -> None:
        """Note that a client has shown a credential."""
        self._strangers.remove(connection)
        connection.trust()

    async def _serve_one(self, connection: ServedConnection) -> bool:
        """Answer a request; False if it is the connection's last."""
        async with asyncio.timeout(connection.limits.patience) as deadline:
            try:
                head = await connection.next()
                if connection in self._strangers:
                    await self._strangers.turn()
                return head is not None and await self._respond(connection, head, deadline)
            except RefusedError as e:
                answer = refusal_of(e)
                await connection.send(_whole(answer, with_body=True, is_kept=False))
                return False

    async def _respond(
        self, connection: ServedConnection, head: RequestHead, deadline: asyncio.Timeout
    ) -> bool:
        """Answer a request; False if it is the connection's last."""
        request = head.request
        found = self._routes.find(request.path)
        try:
            route = await self._admitted(connection, request, found)
            body = b""
            if connection not in self._strangers:
                body = await _body(connection, head, deadline)
            if route.take_over is not None:
                await self._hand_over(connection, head.whole(body), route)
                return False
            answer = await _answer(route, head.whole(body))
        except RefusedError as e:
            answer = refusal_of(e)
        except ApiError as e:
            answer = refusal_of(RefusedError(503, str(e)))
        except ClientGoneError:
            return False
        except NoAnswerError:
            raise
        except Exception:  # one request must not end the others
            log.exception("'%s %s' has failed", request.method, request.path)
            answer = refusal_of(RefusedError(500, "the server has failed: see its log"))
        self._count("" if found is None else found.path, answer.status)
        return await _write(connection, head, answer)

    async def _admitted(
        self, connection: ServedConnection, request: Request, route: Route | None
    ) -> Route:
        """Return the route of a request; RefusedError if there is none, or no right to it."""
        if route is None or not route.is_open:
            # Before anything is said of a path, also that there is none.
            await self._admit(request, connection.certificate)
            self._know(connection)
        if route is None:
            raise RefusedError(404, "not found")
        if _method(request) not in route.methods:
            raise RefusedError(405, "method not allowed")
        return route

    async def _hand_over(
        self, connection: ServedConnection, request: Request, route: Route
    ) -> None:
        assert route.take_over is not None
        try:
            await route.take_over(request, connection)
        except (RefusedError, ApiError) as e:
            error = e if isinstance(e, RefusedError) else RefusedError(503, str(e))
            self._count(route.path, error.status)
            answer = refusal_of(error)
            await connection.send(_whole(answer, with_body=True, is_kept=False))
        else:
            self._count(route.path, 101)


async def _body(
    connection: ServedConnection, head: RequestHead, deadline: asyncio.Timeout
) -> bytes:
    """Return the body that a known client sends; its request may take any time from then on."""
    body = b""
    if head.has_body:
        deadline.reschedule(asyncio.get_running_loop().time() + connection.limits.patience)
        body = await connection.body(head)
    deadline.reschedule(None)
    return body


async def _answer(route: Route, request: Request) -> Answer:
    assert route.answer is not None
    return await route.answer(request)


def _method(request: Request) -> str:
    return "GET" if request.method == "HEAD" else request.method


async def _write(connection: ServedConnection, head: RequestHead, answer: Answer) -> bool:
    """Write an answer; False if the connection ends with it."""
    with_body = head.request.method != "HEAD"
    is_kept = head.is_kept and connection.is_in_step
    if isinstance(answer.body, bytes):
        await connection.send(_whole(answer, with_body=with_body, is_kept=is_kept))
        return is_kept
    # A request that may be followed is one of HTTP/1.1.
    first = head_of_stream(answer, in_chunks=is_kept, is_kept=is_kept)
    await _write_pieces(connection, first, answer.body if with_body else None, in_chunks=is_kept)
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
                    await connection.send(chunk_of(piece) if in_chunks else piece)
        if in_chunks and pieces is not None:
            await connection.send(LAST_CHUNK)
    finally:
        connection.cancel_when_lost(None)
        close = getattr(pieces, "aclose", None)
        if close is not None:
            await close()


def _whole(answer: Answer, *, with_body: bool, is_kept: bool) -> bytes:
    assert isinstance(answer.body, bytes)
    return whole_answer(answer, answer.body, with_body=with_body, is_kept=is_kept)
