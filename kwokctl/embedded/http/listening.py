"""Accepts connections, and tells by their first byte whether they speak TLS or plain HTTP."""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

from kwokctl.embedded.http.client_limits import PAUSE, STRANGER
from kwokctl.embedded.http.served_connection import ServedConnection
from kwokctl.embedded.http.strangers import Strangers
from kwokctl.errors import ConfigError, ConflictError, UnavailableError
from kwokctl.host.ports import ANY, LOOPBACK, is_taken

log = logging.getLogger(__name__)

_CLIENT_HELLO = b"\x16"
"""The first byte of a TLS connection."""
_BACKLOG = 1024
_LOOPBACK_DEVICE = b"lo"

Serve = Callable[[socket.socket], Coroutine[object, None, None]]


def listening_sockets(
    hosts: Sequence[str], port: int, *, whole_loopback: bool = False
) -> list[socket.socket]:
    """Listen at a port of several addresses; UnavailableError if one is taken or does not exist.

    With `whole_loopback` 127.0.0.1 alone stands for all of 127.0.0.0/8.
    """
    found: list[socket.socket] = []
    is_whole = whole_loopback and tuple(hosts) == (LOOPBACK,)
    for host in hosts:
        try:
            whole = _on_whole_loopback(port) if is_whole else None
            found.append(whole or _listening(host, port, only_6=ANY in hosts))
        except OSError as e:
            for each in found:
                each.close()
            raise UnavailableError(
                f"cannot serve on '{host}:{port}': {e.strerror}",
                hint="give another address with --server-address",
            ) from e
        port = port or found[0].getsockname()[1]
    return found


def listening_sockets_nearby(
    hosts: Sequence[str], port: int, *, serving: str, whole_loopback: bool = False
) -> list[socket.socket]:
    """Listen as `listening_sockets` does, but at a free port if that one is taken.

    Then a warning says where it is `serving`.
    """
    try:
        return listening_sockets(hosts, port, whole_loopback=whole_loopback)
    except UnavailableError as e:
        if not is_taken(e):
            raise
    found = listening_sockets(hosts, 0, whole_loopback=whole_loopback)
    own = found[0].getsockname()[1]
    log.warning("port %d is taken: %s are at port %d", port, serving, own)
    return found


def _on_whole_loopback(port: int) -> socket.socket | None:
    """Listen at all addresses of 127.0.0.0/8, so that each node may have one; None if that fails.

    A socket that is bound to the loopback device gets nothing from other machines. The port is then
    taken at all other addresses, too, so a server that needs it there has 127.0.0.1 alone, as
    where the port is used elsewhere, or an old kernel demands a right for it.
    """
    try:
        return _listening(ANY, port, device=_LOOPBACK_DEVICE)
    except OSError:
        return None


def _listening(host: str, port: int, *, device: bytes = b"", only_6: bool = False) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if device:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device)
        if family == socket.AF_INET6 and only_6:  # another socket has the port for IPv4
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(_BACKLOG)
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made


def unix_socket(path: Path, *, hint: str) -> socket.socket:
    """Listen at a unix socket that only its owner may dial; UnavailableError if that fails.

    One that a server has left behind is replaced; ConflictError if there is another file.
    """
    if path.exists() and not path.is_socket():
        raise ConflictError(f"'{path}' exists, and is not a socket", hint=hint)
    made = socket.socket(socket.AF_UNIX)
    try:
        path.unlink(missing_ok=True)
        made.bind(str(path))
        path.chmod(0o600)
        made.listen()
        made.setblocking(False)
    except OSError as e:
        made.close()
        raise UnavailableError(f"cannot serve at '{path}': {e.strerror or e}", hint=hint) from e
    return made


def server_tls(certificate: Path, key: Path, client_ca: Path | None) -> ssl.SSLContext:
    """Show a certificate, and verify those of clients that have one; ConfigError for bad files."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # Clients in Go resume no session; the two tickets with their certificate cost half a millisecond.
    context.num_tickets = 0
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as e:
        raise ConfigError(
            f"the certificate '{certificate}' and its key '{key}' cannot be read: {e}",
            hint="correct --tls-cert-file and --tls-private-key-file",
        ) from e
    if client_ca is not None:
        try:
            context.load_verify_locations(client_ca)
        except (OSError, ssl.SSLError) as e:
            raise ConfigError(
                f"the CA '{client_ca}' cannot be read: {e}", hint="correct --client-ca-file"
            ) from e
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


async def accepted(listening: socket.socket) -> AsyncGenerator[socket.socket, None]:
    """Yield connections until cancelled, one in a turn of the loop; one that is reset is left out.

    A client that asks thousands of nodes at once opens a connection wherever none is free, and uses what
    becomes free first. Were all accepted at once, it would shake hands for each request.
    """
    loop = asyncio.get_running_loop()
    while True:
        try:
            found, _ = await loop.sock_accept(listening)
        except ConnectionError:
            continue
        except OSError:  # too many open files: some may be closed soon
            await asyncio.sleep(0.1)
            continue
        yield found
        await asyncio.sleep(0)


async def serve_each(
    listening: Sequence[socket.socket], serve: Serve, strangers: Strangers | None = None
) -> None:
    """Serve each connection of these sockets until cancelled; close them in the end.

    While `strangers` are many, those for which they have no room are closed, and the others accepted slowly.
    """
    many = Strangers() if strangers is None else strangers
    try:
        async with asyncio.TaskGroup() as tasks:
            for each in listening:
                tasks.create_task(_serve_accepted(each, serve, many, tasks))
    finally:
        for each in listening:
            each.close()


async def _serve_accepted(
    listening: socket.socket, serve: Serve, strangers: Strangers, tasks: asyncio.TaskGroup
) -> None:
    async with aclosing(accepted(listening)) as connections:
        async for found in connections:
            if strangers.have_no_room_for(found):
                found.close()
                continue
            tasks.create_task(serve(found))
            if strangers.are_many:
                await asyncio.sleep(PAUSE)


async def connected(
    found: socket.socket, connection: ServedConnection, tls: ssl.SSLContext | None
) -> bool:
    """Connect what was accepted; False if the client goes, waits too long, or fails at TLS."""
    loop = asyncio.get_running_loop()
    try:
        found.setblocking(False)
        if found.family != socket.AF_UNIX:
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        async with asyncio.timeout(STRANGER.patience):
            first = await _peeked(found)
            if not first or (first == _CLIENT_HELLO and tls is None):
                found.close()
                return False
            context = tls if first == _CLIENT_HELLO else None
            await loop.connect_accepted_socket(lambda: connection, found, ssl=context)
    except (OSError, TimeoutError):
        with suppress(OSError):
            found.close()
        return False
    except asyncio.CancelledError:
        found.close()
        raise
    return True


async def _peeked(found: socket.socket) -> bytes:
    """Return the first byte without taking it; b"" if there is none."""
    loop = asyncio.get_running_loop()
    with suppress(BlockingIOError):
        return found.recv(1, socket.MSG_PEEK)
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(found, _set, ready)
    try:
        await ready
    finally:
        loop.remove_reader(found)
    return found.recv(1, socket.MSG_PEEK)


def _set(ready: asyncio.Future[None]) -> None:
    """Set a future once; a reader may be called again before it is removed."""
    if not ready.done():
        ready.set_result(None)
