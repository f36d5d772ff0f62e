"""Dials etcd, at a unix socket or over TCP, with TLS if there is an authority to trust."""

import asyncio
import socket as sockets
import ssl
from pathlib import Path
from typing import Self

import msgspec

from kwokctl.errors import ConfigError, UnavailableError
from kwokctl.etcd.grpc.call_errors import explained, unreachable
from kwokctl.etcd.grpc.grpc_connection import GrpcConnection

_UNIX = "unix:"
_ALPN = "h2"
_KEEPALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))


class EtcdAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of etcd, the CA to trust, and our client certificate."""

    target: str
    """As it was given, for messages."""
    socket: str | None
    """A unix socket to dial instead of host and port."""
    host: str
    port: int
    ca: Path | None
    """Without it the connection is plain, unless every certificate is accepted."""
    cert: Path | None
    key: Path | None
    accepts_any: bool = False
    """Whether TLS is used with a server whose certificate nothing vouches for."""

    @classmethod
    def of(
        cls,
        target: str,
        *,
        ca: Path | None,
        cert: Path | None,
        key: Path | None,
        accepts_any: bool = False,
    ) -> Self:
        """Read `unix:/…/etcd.sock` or `host:port`. Raises ConfigError when it is neither."""
        socket, host, port = None, "localhost", "0"
        if target.startswith(_UNIX):
            socket = target.removeprefix(_UNIX)
        else:
            host, _, port = target.rpartition(":")
            host = host.removeprefix("[").removesuffix("]")
        if socket == "" or not host or not (port.isascii() and port.isdigit()):
            raise ConfigError(
                f"'{target}' is not an address of etcd", hint="write 'host:port' or 'unix:/path'"
            )
        return cls(
            target=target,
            socket=socket,
            host=host,
            port=int(port),
            ca=ca,
            cert=cert,
            key=key,
            accepts_any=accepts_any,
        )

    @property
    def authority(self) -> str:
        """The server's name in requests."""
        return self.target if self.socket is None else self.host

    @property
    def is_secure(self) -> bool:
        """Whether TLS is used."""
        return self.ca is not None or self.accepts_any


async def dial(address: EtcdAddress) -> GrpcConnection:
    """Connect, and wait for the server's settings.

    Raises EtcdGoneError when it cannot be reached, UnavailableError for files that cannot be used.
    """
    loop = asyncio.get_running_loop()
    # Reading certificates takes long enough to hold others up.
    context = await asyncio.to_thread(_context, address) if address.is_secure else None
    connection = GrpcConnection(loop, address.target)
    try:
        transport = await _connect(connection, address, context)
        why_not = await connection.greeted
    except (OSError, OverflowError) as e:
        raise unreachable(address.target, explained(e)) from e
    except BaseException:
        connection.close()
        raise
    if why_not is not None:
        raise unreachable(address.target, why_not)
    if address.socket is None:
        _keep_alive(transport)
    return connection


async def _connect(
    connection: GrpcConnection, address: EtcdAddress, context: ssl.SSLContext | None
) -> asyncio.BaseTransport:
    loop = asyncio.get_running_loop()
    name = address.host if context else None
    if address.socket is not None:
        transport, _ = await loop.create_unix_connection(
            lambda: connection, address.socket, ssl=context, server_hostname=name
        )
        return transport
    transport, _ = await loop.create_connection(
        lambda: connection, address.host, address.port, ssl=context, server_hostname=name
    )
    return transport


def _keep_alive(transport: asyncio.BaseTransport) -> None:
    """Make the kernel detect a peer that has vanished without closing the connection."""
    socket = transport.get_extra_info("socket")
    socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        if hasattr(sockets, option):
            socket.setsockopt(sockets.IPPROTO_TCP, getattr(sockets, option), value)


def _context(address: EtcdAddress) -> ssl.SSLContext:
    """Build what TLS needs: only our authority is trusted, if any is named; only HTTP/2 is offered."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols([_ALPN])
    if address.accepts_any:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    try:
        if address.ca is not None:
            context.load_verify_locations(address.ca)
        if address.cert is not None:
            # An encrypted key would otherwise ask for its password on the terminal.
            context.load_cert_chain(address.cert, address.key, password=_no_password)
    except (ssl.SSLError, ValueError) as e:
        raise UnavailableError(f"etcd's certificates cannot be used: {_reason(e)}") from e
    except OSError as e:
        files = ", ".join(f"'{file}'" for file in (address.ca, address.cert, address.key) if file)
        raise UnavailableError(f"etcd's certificates ({files}) cannot be read: {e.strerror}") from e
    return context


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


def _reason(error: Exception) -> str:
    return (isinstance(error, ssl.SSLError) and error.reason) or str(error)
