"""Dials a server, with TLS if it has it, and explains failures in words that users understand."""

import asyncio
import os
import socket as sockets
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypeVar
from urllib.parse import urlsplit

import msgspec

from kwokctl.errors import ApiError, ConfigError
from kwokctl.kube.transport.wire import REFUSED, TIMEOUT, TLS_FAILED, UNREACHABLE, UNTRUSTED, Wire

W = TypeVar("W", bound=Wire)

_CONNECT_AT_MOST = 10.0
_KEEPALIVE = (
    ("TCP_KEEPIDLE", 30),
    ("TCP_KEEPINTVL", 10),
    ("TCP_KEEPCNT", 3),
)


class ServerAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of an API server, for dialling."""

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

    Raises ApiError with status 0; its reason distinguishes the kinds of failure.
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
    """Let the kernel detect a peer that has vanished without closing the connection."""
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
                hint="the kubeconfig may be of another cluster, or of one that was deleted and created again",
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


def tls_context(
    *, ca: bytes | None, cert: bytes | None, key: bytes | None, insecure: bool = False
) -> ssl.SSLContext:
    """Build a client's context from PEM bytes.

    Without a CA the machine's own are trusted. Raises ConfigError when the PEM cannot be used.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    if insecure:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    elif ca is None:
        made.load_default_certs()
    else:
        _trust(made, ca)
    if cert is not None and key is not None:
        _identify(made, cert, key)
    return made


def _trust(made: ssl.SSLContext, ca: bytes) -> None:
    try:
        made.load_verify_locations(cadata=ca.decode("ascii"))
    except (ssl.SSLError, ValueError) as e:
        raise ConfigError("the certificate authority's certificate is not valid PEM") from e


def _identify(made: ssl.SSLContext, cert: bytes, key: bytes) -> None:
    try:
        with _as_file(cert.rstrip() + b"\n" + key.rstrip() + b"\n") as path:
            # An encrypted key would otherwise ask for its password on the terminal.
            made.load_cert_chain(path, password=_no_password)
    except (ssl.SSLError, ValueError) as e:
        raise ConfigError(
            "the client certificate and its key cannot be used together",
            hint="both must be PEM, the key without a password and made for the certificate",
            detail=str(e),
        ) from e


def _no_password() -> str:
    raise ValueError("the key is protected by a password")


@contextmanager
def _as_file(secret: bytes) -> Iterator[str]:
    """Show bytes as a file, because OpenSSL takes a key from nowhere else.

    Linux keeps it in memory without a name; elsewhere it is a file only its owner can read.
    """
    if hasattr(os, "memfd_create") and Path("/proc/self/fd").is_dir():
        descriptor = os.memfd_create("kwokctl", os.MFD_CLOEXEC)
        try:
            os.write(descriptor, secret)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(secret)
        file.flush()
        yield file.name
