"""Reads where the API server wants to be connected to: `CONNECT HOST:PORT HTTP/1.1`.

https://www.rfc-editor.org/rfc/rfc9110.html#section-9.3.6
"""

import asyncio
import re
import socket
from typing import NamedTuple

from kwokctl.embedded.http.messages import RefusedError

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
