"""Connects the API server to what it asks for: nodes are this server, the rest is dialled.

The API server has all of its connections to the cluster made here (`--egress-selector-config-file`, of the
type `cluster`), also those to webhooks and extension servers. So a node is reached by its internal address,
which leads nowhere, and which `nodes/proxy` accepts: it refuses loopback addresses.
"""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from kwokctl.embedded.http.listening import serve_each, unix_socket
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.kubelet.egress.relay import relay
from kwokctl.kubelet.egress.target import ConnectTarget, target_of

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
        await serve_each(listening, self._serve)

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
