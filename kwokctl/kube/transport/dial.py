"""Dials a server, and says what went wrong so that somebody can understand it."""

import asyncio
import socket as sockets
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import REFUSED, TIMEOUT, TLS_FAILED, UNREACHABLE, UNTRUSTED, Wire

W = TypeVar("W", bound=Wire)

_CONNECT_AT_MOST = 10.0
_KEEPALIVE = (
    ("TCP_KEEPIDLE", 30),
    ("TCP_KEEPINTVL", 10),
    ("TCP_KEEPCNT", 3),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Where to dial."""

    server: str
    """The URL, for messages."""
    host: str
    port: int
    socket: Path | None
    """A unix socket to dial instead of host and port."""
    name: str
    """The name that the server's certificate must carry."""

    @classmethod
    def of(cls, url: str, socket: Path | None, name: str | None) -> Self:
        """Read an address from a URL."""
        parts = urlsplit(url)
        host = parts.hostname or "localhost"
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return cls(server=url, host=host, port=port, socket=socket, name=name or host)


async def dial(
    kind: type[W], address: ServerAddress, context: ssl.SSLContext | None, *, within: float
) -> W:
    """Connect a new wire of this kind `within` seconds, with TLS if there is a context.

    Raises ApiError with status 0; its reason tells apart what can be told apart.
    """
    loop = asyncio.get_running_loop()
    name = address.name if context else None
    try:
        async with asyncio.timeout(min(within, _CONNECT_AT_MOST)):
            if address.socket is not None:
                _, wire = await loop.create_unix_connection(
                    kind, str(address.socket), ssl=context, server_hostname=name
                )
                return wire
            transport, wire = await loop.create_connection(
                kind, address.host, address.port, ssl=context, server_hostname=name
            )
    except (OSError, TimeoutError) as e:
        raise _explained(address, e) from e
    _keep_alive(transport)
    return wire


def _keep_alive(transport: asyncio.BaseTransport) -> None:
    """Notice a peer that has vanished without a word."""
    socket = transport.get_extra_info("socket")
    socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        if hasattr(sockets, option):
            socket.setsockopt(sockets.IPPROTO_TCP, getattr(sockets, option), value)


def _explained(address: ServerAddress, error: OSError) -> ApiError:
    where = f"'{address.socket or address.server}'"
    match error:
        case ssl.SSLCertVerificationError():
            return ApiError(
                f"{where} cannot be trusted: {error.verify_message}",
                status=0,
                reason=UNTRUSTED,
                hint="the kubeconfig may be of another cluster, or of one that was made anew",
            )
        case ssl.SSLError():
            why = error.reason or str(error)
            return ApiError(f"no TLS with {where}: {why}", status=0, reason=TLS_FAILED)
        case TimeoutError():
            return ApiError(f"{where} does not answer", status=0, reason=TIMEOUT)
        case ConnectionRefusedError() | FileNotFoundError():
            return ApiError(f"{where} refuses connections", status=0, reason=REFUSED)
        case _:
            why = error.strerror or str(error)
            return ApiError(f"{where} cannot be reached: {why}", status=0, reason=UNREACHABLE)
