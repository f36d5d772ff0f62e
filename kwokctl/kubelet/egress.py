"""Connects the API server to the targets of its CONNECT requests: nodes are this server, the rest is dialled.

The API server has all of its connections to the cluster made here (`--egress-selector-config-file`, of the
type `cluster`), also those to webhooks and extension servers. So a node is reached by its internal address,
which leads nowhere, and which `nodes/proxy` accepts: it refuses loopback addresses. The form of its requests is that
of https://www.rfc-editor.org/rfc/rfc9110.html#section-9.3.6
"""

import asyncio
import logging
import re
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kwokctl.embedded.http.listening import serve_each, unix_socket
from kwokctl.embedded.http.messages import RefusedError

_PIECE = 64 * 1024


async def relay(near: socket.socket, far: socket.socket) -> None:
    """Pass bytes on until both sides have ended, or one is gone; then close both."""
    here, there = await _streams(near), await _streams(far)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pass_on(here[0], there[1]))
            tasks.create_task(_pass_on(there[0], here[1]))
    except* OSError:
        pass
    finally:
        here[1].close()
        there[1].close()


async def _streams(end: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if end.family == socket.AF_UNIX:
        return await asyncio.open_unix_connection(sock=end)
    return await asyncio.open_connection(sock=end)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_PIECE):
        writer.write(data)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()


_LONGEST = 4096
_END = b"\r\n\r\n"
_LINE = re.compile(rb"CONNECT (\[[0-9A-Fa-f:.%]+\]|[\w.-]+):([0-9]{1,5}) HTTP/1\.[01]\r\n")


class ConnectTarget(NamedTuple):
    """The address that the API server asks for."""

    host: str
    port: int


async def target_of(connection: socket.socket) -> ConnectTarget:
    """Return what a new connection asks for; RefusedError if that is no CONNECT."""
    loop, head = asyncio.get_running_loop(), b""
    while _END not in head:
        if len(head) > _LONGEST:
            raise RefusedError(431, "the head of the request is too long")
        data = await loop.sock_recv(connection, _LONGEST)
        if not data:
            raise RefusedError(400, "the connection has ended before its request")
        head += data
    return _read(head)


def _read(head: bytes) -> ConnectTarget:
    found = _LINE.match(head)
    # What came ahead would be lost: the API server sends nothing before the answer.
    if found is None or not head.endswith(_END) or int(found[2]) > 65535:
        raise RefusedError(400, "CONNECT is served here, and nothing else")
    return ConnectTarget(found[1].decode("ascii").strip("[]"), int(found[2]))


log = logging.getLogger(__name__)

_PATIENCE = 10.0
"""Seconds in which a connection must say where it leads, and in which it must be made."""
_CONNECTED = b"HTTP/1.1 200 OK\r\n\r\n"

Serve = Callable[[socket.socket, str], Awaitable[None]]
"""Serves a connection as the kubelet of the node with an address."""


def egress_socket(path: Path) -> socket.socket:
    """Listen at a unix socket that only its owner may dial; UnavailableError if that fails."""
    return unix_socket(path, hint="give another path with --egress-socket")


class EgressServer:
    """Listens until cancelled."""

    def __init__(self, serve: Serve, port: int) -> None:
        """Hand connections to `port`, that of kubelets, over to `serve`."""
        self._serve_node = serve
        self._port = port

    async def run(self, listening: socket.socket) -> None:
        """Serve the connections of a socket until cancelled; close it in the end."""
        await serve_each([listening], self._serve)

    async def _serve(self, found: socket.socket) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                far = await self._far_end(found)
        except (OSError, RefusedError) as e:  # a timeout is an OSError, too
            await _refuse(found, e)
        except BaseException:
            found.close()
            raise
        else:
            await self._carry(found, far)

    async def _far_end(self, found: socket.socket) -> ConnectTarget | socket.socket:
        """Return the node that a connection leads to, or else the connection to where it leads."""
        found.setblocking(False)
        target = await target_of(found)
        far = target if target.port == self._port else await _dialled(target)
        await asyncio.get_running_loop().sock_sendall(found, _CONNECTED)
        return far

    async def _carry(self, found: socket.socket, far: ConnectTarget | socket.socket) -> None:
        if isinstance(far, ConnectTarget):
            await self._serve_node(found, far.host)
        else:
            await relay(found, far)


async def _dialled(target: ConnectTarget) -> socket.socket:
    """Connect to what is no node, as the API server itself would do."""
    loop = asyncio.get_running_loop()
    places = await loop.getaddrinfo(target.host, target.port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = places[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        await loop.sock_connect(made, address)
    except BaseException:
        made.close()
        raise
    return made


async def _refuse(found: socket.socket, error: OSError | RefusedError) -> None:
    status = error.status if isinstance(error, RefusedError) else 502
    log.debug("a connection of the API server is refused: %s", error)
    body = f"{error}\n".encode()
    head = f"HTTP/1.1 {status} Refused\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with suppress(OSError):
        await asyncio.get_running_loop().sock_sendall(found, head.encode() + body)
    found.close()
