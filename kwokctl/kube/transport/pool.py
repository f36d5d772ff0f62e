"""Sends HTTP/1.1 requests to an API server over a pool of kept-alive connections, at little cost.

Requests go straight from bytes to the transport and answers straight from the parser to a future.
The parts that cost (a task, a timer, a copy per request) are left out on purpose.
"""

import asyncio
import random
import ssl
from asyncio import Future
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

from kwokctl import __version__
from kwokctl.errors import ApiError
from kwokctl.kube.kubeconfig.access import Access
from kwokctl.kube.transport.dial import ServerAddress, dial, tls_context
from kwokctl.kube.transport.probe import probe
from kwokctl.kube.transport.refusals import refusal, retry_after
from kwokctl.kube.transport.request_encoder import JSON, RequestEncoder
from kwokctl.kube.transport.stream import KeptStreams, Stream
from kwokctl.kube.transport.wire import LOST, TIMEOUT, HttpConnection, Response, Wire, lost

__all__ = ["USER_AGENT", "Pool", "Response", "Stream", "probe"]

USER_AGENT = f"kwokctl/{__version__}"

_REPEATABLE = frozenset(("GET", "HEAD", "PUT", "PATCH", "DELETE"))
_IDLE_AT_MOST = 60.0
_RETRIES = 6
_LONGEST_REFUSAL = 1 << 20

W = TypeVar("W", bound=Wire)


class Pool:
    """Requests to one API server over at most `connections` connections.

    A request that finds all of them busy waits for its turn. The environment's proxies are not
    used: clusters are dialled directly. Use it within one event loop.
    """

    def __init__(
        self,
        access: Access,
        *,
        connections: int = 64,
        user_agent: str = USER_AGENT,
        timeout: float = 30.0,
        socket: Path | None = None,
    ) -> None:
        """Dial nothing yet. `timeout` bounds connecting, and each answer to a request.

        `socket` is dialled instead of the server's host and port. Raises ConfigError when the
        access's certificates cannot be used.
        """
        self._address = ServerAddress.of(access.server, socket, access.tls_server_name)
        self._tls: ssl.SSLContext | None = None
        if urlsplit(access.server).scheme == "https":
            self._tls = tls_context(
                ca=access.ca, cert=access.cert, key=access.key, insecure=access.insecure
            )
        self._requests = RequestEncoder(access, user_agent)
        self._limit = connections
        self._timeout = timeout
        self._open = 0
        self._idle: list[HttpConnection] = []
        self._busy: set[HttpConnection] = set()
        self._streams: set[Stream] = set()
        self._kept = KeptStreams(longest=_IDLE_AT_MOST)
        self._waiting: deque[Future[HttpConnection | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def authorize(self, access: Access) -> None:
        """Show the token of `access` from now on."""
        self._requests.authorize(access)

    async def request(
        self,
        method: str,
        path: str,
        *,
        body: bytes = b"",
        content_type: str = JSON,
        accept: str = JSON,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send a request and return the answer, whatever its status.

        A server that is too busy (429 or 503 with `Retry-After`) is asked again, a few times. A
        request whose kept-alive connection turns out to be closed is sent once more if that can
        do no harm. Raises ApiError with status 0 when no answer comes.
        """
        data = self._requests.encode(
            method, path, body=body, content_type=content_type, accept=accept, headers=headers
        )
        retries = 0
        while True:
            response = await self._exchange(data, repeatable=method in _REPEATABLE)
            if response.status not in (429, 503):
                return response
            delay = retry_after(response)
            if delay is None or retries == _RETRIES:
                return response
            retries += 1
            await asyncio.sleep(delay * random.uniform(1.0, 1.5))

    @asynccontextmanager
    async def stream(
        self, path: str, *, accept: str = JSON, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        """Send a request on a connection of its own and read the answer as it comes.

        A connection whose answer has come to its end carries the next one: a server that ends
        watches often would otherwise have to shake hands for each. After `silence` seconds without
        a byte the stream ends with an ApiError. Raises ApiError, as `refusal` makes it, when the
        server refuses.
        """
        data = self._requests.encode("GET", path, accept=accept)
        stream = await self._opened(data)
        try:
            stream.bound_silence(silence)
            yield stream
        finally:
            self._streams.discard(stream)
            self._kept.keep(stream, asyncio.get_running_loop().time())

    async def close(self) -> None:
        """Drop all connections; requests under way fail."""
        self._closed = True
        gone: list[Wire] = [*self._idle, *self._busy, *self._streams, *self._kept.clear()]
        for wire in gone:
            wire.fail(lost("it was closed on our side"))
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(lost("it was closed on our side"))
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for wire in gone:
            if wire.is_connected:
                await wire.gone.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _exchange(self, data: bytes, *, repeatable: bool) -> Response:
        connection = self._take(repeatable=repeatable)
        if connection is None:
            return await self._ask(await self._wait_for_connection(), data)
        try:
            return await self._ask(connection, data)
        except ApiError as e:
            # The server may close a kept-alive connection in the moment in which we use it.
            if e.reason != LOST or connection.heard or not repeatable or self._closed:
                raise
        return await self._ask(await self._fresh(), data)

    async def _ask(self, connection: HttpConnection, data: bytes) -> Response:
        loop = asyncio.get_running_loop()
        waiter: Future[Response] = loop.create_future()
        connection.deadline = loop.time() + self._timeout
        self._busy.add(connection)
        if self._timer is None:
            self._timer = loop.call_later(self._period, self._check_deadlines)
        connection.send(data, waiter)
        try:
            return await waiter
        finally:
            self._busy.discard(connection)
            self._give_back(connection, loop.time())

    def _take(self, *, repeatable: bool) -> HttpConnection | None:
        """Take the idle connection that was used last, because it is the least likely closed."""
        while self._idle:
            connection = self._idle.pop()
            idle = asyncio.get_running_loop().time() - connection.idle_since
            usable = connection.is_open and idle < _IDLE_AT_MOST
            # What may be sent again needs no look beforehand.
            if usable and (repeatable or not connection.has_news()):
                return connection
            connection.close()
            self._open -= 1
        return None

    async def _wait_for_connection(self) -> HttpConnection:
        if self._open < self._limit:
            self._open += 1
            return await self._dial_in_slot()
        waiter: Future[HttpConnection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            connection = await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self._pass_on(waiter.result())
            raise
        if connection is not None and connection.is_open:
            return connection
        return await self._dial_in_slot()

    async def _fresh(self) -> HttpConnection:
        """Dial instead of taking another idle connection, which may be just as dead."""
        if self._open >= self._limit and self._idle:
            self._idle.pop(0).close()
            self._open -= 1
        return await self._wait_for_connection()

    async def _dial_in_slot(self) -> HttpConnection:
        try:
            return await self._connect(HttpConnection)
        except BaseException:
            self._pass_on(None)
            raise

    async def _connect(self, kind: type[W]) -> W:
        if self._closed:
            raise lost("it was closed on our side")
        return await dial(kind, self._address, self._tls, within=self._timeout)

    async def _opened(self, data: bytes) -> Stream:
        """Return a stream that has begun to answer a request."""
        while stream := self._kept.take(asyncio.get_running_loop().time()):
            try:
                return await self._begun(stream, data)
            except ApiError as e:
                # As with requests: it may have been closed in this very moment.
                if e.reason != LOST or stream.heard or self._closed:
                    raise
        return await self._begun(await self._connect(Stream), data)

    async def _begun(self, stream: Stream, data: bytes) -> Stream:
        self._streams.add(stream)
        try:
            await self._begin(stream, data)
        except BaseException:
            self._streams.discard(stream)
            stream.close()
            raise
        return stream

    async def _begin(self, stream: Stream, data: bytes) -> None:
        try:
            async with asyncio.timeout(self._timeout):
                await stream.begin(data)
                if stream.status < 400:
                    return
                body = b""
                async for piece in stream:
                    body += piece
                    if len(body) > _LONGEST_REFUSAL:
                        break
        except TimeoutError as e:
            raise self._too_late() from e
        raise refusal(stream.status, body)

    def _give_back(self, connection: HttpConnection, now: float) -> None:
        if not (connection.is_reusable and connection.is_open) or self._closed:
            connection.close()
            self._pass_on(None)
            return
        connection.idle_since = now
        self._pass_on(connection)

    def _pass_on(self, connection: HttpConnection | None) -> None:
        """Give a connection, or the right to make one, to the first in line."""
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_result(connection)
                return
        if connection is None:
            self._open -= 1
        else:
            self._idle.append(connection)

    @property
    def _period(self) -> float:
        return min(1.0, self._timeout / 8)

    def _check_deadlines(self) -> None:
        """Fail what is late: one timer for all requests, because a timer each would cost more."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for connection in [c for c in self._busy if c.deadline < now]:
            connection.fail(self._too_late())
        self._timer = loop.call_later(self._period, self._check_deadlines) if self._busy else None

    def _too_late(self) -> ApiError:
        why = f"no answer from '{self._address.server}' within {self._timeout:g} s"
        return ApiError(why, status=0, reason=TIMEOUT)
