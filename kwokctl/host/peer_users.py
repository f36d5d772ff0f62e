"""Asks the kernel which user has the other end of a connection on this machine."""

import socket
import struct

_SOCK_DIAG, _BY_FAMILY, _REQUEST = 4, 20, 1
"""NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY and NLM_F_REQUEST (sock_diag(7), netlink(7))."""
_ANY_STATE, _ANY_COOKIE = 0xFFFFFFFF, b"\xff" * 8
_HEADER, _OPTIONS = struct.Struct("=IHHII"), struct.Struct("=BBBBI")
_PORTS, _REST = struct.Struct("!HH16s16s"), struct.Struct("=I8s")
_USER = 64
"""The place of the user in the answer."""
_PADDING = bytes(12)
_CREDENTIALS = struct.Struct("3i")
"""Process, user and group (unix(7), SO_PEERCRED)."""


def user_of_peer(connection: socket.socket) -> int | None:
    """Return the id of the user that dialled a connection from this machine; None if the kernel does not say it.

    It does for unix sockets, and for TCP over IPv4.
    """
    if connection.family == socket.AF_UNIX:
        size = _CREDENTIALS.size
        _, of_unix, _ = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
        )
        return int(of_unix)
    family = getattr(socket, "AF_NETLINK", None)
    if family is None or connection.family != socket.AF_INET:
        return None
    try:
        with socket.socket(family, socket.SOCK_RAW, _SOCK_DIAG) as kernel:
            kernel.settimeout(1)
            kernel.send(_question(connection))
            answer = kernel.recv(4096)
    except OSError:
        return None
    _, kind, *_ = _HEADER.unpack_from(answer)
    if kind != _BY_FAMILY:
        return None
    (user,) = struct.unpack_from("=I", answer, _HEADER.size + _USER)
    return int(user)


def _question(connection: socket.socket) -> bytes:
    """Return the request for the socket at the other end: from its point of view, this one is the destination."""
    theirs, ours = connection.getpeername(), connection.getsockname()
    addresses = (socket.inet_aton(each[0]) + _PADDING for each in (theirs, ours))
    body = (
        _OPTIONS.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, 0, _ANY_STATE)
        + _PORTS.pack(theirs[1], ours[1], *addresses)
        + _REST.pack(0, _ANY_COOKIE)
    )
    return _HEADER.pack(_HEADER.size + len(body), _BY_FAMILY, _REQUEST, 0, 0) + body
