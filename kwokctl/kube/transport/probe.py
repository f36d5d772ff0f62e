"""Asks a component whether it is ready, on connections of its own."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

from kwokctl.errors import KwokctlError
from kwokctl.kube.transport.dial import ServerAddress, dial, tls_context
from kwokctl.kube.transport.wire import HttpConnection, Response
from kwokctl.model import HttpProbe

_TIMEOUT = 3.0
_NO_LISTENER = {errno.ECONNREFUSED, errno.ENOENT}
Credentials = tuple[Path | None, Path | None, Path | None]
_contexts: dict[Credentials, ssl.SSLContext] = {}


async def probe(probe: HttpProbe, *, within: float = _TIMEOUT) -> bool:
    """Return whether the probe holds: its URL answers 200 within a few seconds.

    Whatever goes wrong is a no; a server whose certificate is not signed by the probe's CA, too.
    """
    async with repeated(probe, within=within) as holds:
        return await holds()


@asynccontextmanager
async def repeated(
    probe: HttpProbe, *, within: float = _TIMEOUT
) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """Give what asks for a probe again and again, on one connection as long as that lasts.

    A TLS handshake costs both sides more than all else of a request, and a program that boots has no
    time to spare.
    """
    repeating = _Repeating(probe, within)
    try:
        yield repeating.holds
    finally:
        repeating.close()


class _Repeating:
    """A probe, and the connection on which it was made last."""

    def __init__(self, probe: HttpProbe, within: float) -> None:
        self._probe = probe
        self._within = within
        self._connection: HttpConnection | None = None

    async def holds(self) -> bool:
        """Return whether it holds now."""
        try:
            async with asyncio.timeout(self._within):
                return await self._answers()
        except (KwokctlError, OSError, ValueError):
            self.close()
            _forget(self._probe)
            return False

    async def _answers(self) -> bool:
        probe, connection = self._probe, self._connection
        if connection is None or not (connection.is_open and connection.is_reusable):
            if _is_refused(ServerAddress.of(probe.url, probe.socket, None)):
                return False
            context = _context(probe) if probe.url.startswith("https:") else None
            connection = self._connection = await _dialled(probe, context, self._within)
        return (await _asked(connection, probe)).status == 200

    def close(self) -> None:
        """Drop the connection."""
        if self._connection:
            self._connection.close()
        self._connection = None


async def fetched(page: HttpProbe, *, token: str = "") -> Response:
    """Return the answer to a GET, with a bearer token if there is one.

    Raises ApiError with status 0 if none comes, OSError for files that cannot be read.
    """
    try:
        is_tls = page.url.startswith("https:")
        context = await asyncio.to_thread(_context, page) if is_tls else None
        return await _got(page, context, token)
    except KwokctlError:
        _forget(page)
        raise


async def _got(page: HttpProbe, context: ssl.SSLContext | None, token: str = "") -> Response:
    connection = await _dialled(page, context, _TIMEOUT)
    try:
        more = [f"Authorization: Bearer {token}"] if token else []
        return await _asked(connection, page, "Connection: close", *more)
    finally:
        connection.close()


async def _dialled(
    page: HttpProbe, context: ssl.SSLContext | None, within: float
) -> HttpConnection:
    address = ServerAddress.of(page.url, page.socket, None)
    return await dial(HttpConnection, address, context, within=within)


async def _asked(connection: HttpConnection, page: HttpProbe, *headers: str) -> Response:
    parts = urlsplit(page.url)
    waiter: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    lines = [f"GET {path} HTTP/1.1", f"Host: {parts.netloc}", *headers, "\r\n"]
    connection.send("\r\n".join(lines).encode("ascii"), waiter)
    return await waiter


def _is_refused(address: ServerAddress) -> bool:
    """Return whether no program of this machine listens there, at a tenth of the cost of a request.

    A program that boots is asked a hundred times before it listens, and needs the CPU itself.
    """
    if address.socket is None and address.host != "127.0.0.1":
        return False
    family = socket.AF_INET if address.socket is None else socket.AF_UNIX
    target = (address.host, address.port) if address.socket is None else str(address.socket)
    with socket.socket(family, socket.SOCK_STREAM) as knock:
        knock.setblocking(False)
        return knock.connect_ex(target) in _NO_LISTENER


def _context(probe: HttpProbe) -> ssl.SSLContext:
    key = (probe.ca, probe.cert, probe.key)
    if key not in _contexts:
        ca, cert, private = _contents(key)
        _contexts[key] = tls_context(ca=ca, cert=cert, key=private)
    return _contexts[key]


def _forget(probe: HttpProbe) -> None:
    """Have the files read again: they may have been renewed since the context was made."""
    _contexts.pop((probe.ca, probe.cert, probe.key), None)


def _contents(paths: Credentials) -> Iterator[bytes | None]:
    return (path.read_bytes() if path else None for path in paths)
