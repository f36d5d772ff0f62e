"""Another user of this machine, who floods a port of TLS without a credential that is worth anything."""

import os
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_ulong
from multiprocessing import get_context
from pathlib import Path

from tests.support.stranger import NOBODY

_CONNECTIONS = 400
_PIECE = 256 * 1024
_WORTHLESS = b"Authorization: Bearer worthless\r\n"
FLOODS = {
    "headers": b"GET /pods HTTP/1.1\r\n" + b"aa:bb\r\n" * 70_000,
    "headers with a credential": b"GET /pods HTTP/1.1\r\n" + _WORTHLESS + b"aa:bb\r\n" * 70_000,
    "chunks": b"POST /pods HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    + b"2\r\nxx\r\n" * 70_000,
    "requests": b"GET /healthz HTTP/1.1\r\n\r\n" * 10_000,
    "requests with a credential": (b"GET /pods HTTP/1.1\r\n" + _WORTHLESS + b"\r\n") * 5_000,
    "parameters": b"GET /pods?" + b"a&" * 7_000 + b" HTTP/1.1\r\n" + _WORTHLESS + b"\r\n",
    "drops": b"GET /pods HTTP/1.1\r\n",
    "silence": b"",
}
"""What each connection sends again and again."""


@contextmanager
def flooded(port: int, kind: str, *, is_secret: bool) -> Iterator[Callable[[], int]]:
    """Flood a port of the loopback address while inside, over TLS or not.

    Yields how many connections were made until now: a server that closes each
    of them at once never has many.
    """
    context = get_context("fork")
    dialled = context.Value("L", 0, lock=False)
    process = context.Process(target=_flood, args=(port, FLOODS[kind], is_secret, dialled))
    process.start()
    try:
        yield lambda: dialled.value
    finally:
        process.kill()
        process.join()


def _flood(port: int, text: bytes, is_secret: bool, dialled: c_ulong) -> None:
    # Sockets read this codec from its file only when they dial: nobody may not read it.
    "localhost".encode("idna")
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    connections = [_Client(port, text, is_secret, dialled) for _ in range(_CONNECTIONS)]
    while True:
        for each in connections:
            each.go_on()


class _Client:
    """One connection, which is made again when the server closes it, and takes no answer."""

    def __init__(self, port: int, text: bytes, is_secret: bool, dialled: c_ulong) -> None:
        self._at = ("127.0.0.1", port)
        self._text = text
        self._is_secret = is_secret
        self._dialled = dialled
        self._socket: socket.socket | None = None
        self._left = memoryview(b"")

    def go_on(self) -> None:
        """Send what fits without waiting."""
        try:
            if self._socket is None:
                self._dial()
            else:
                self._send(self._socket)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError:
            if self._socket is not None:
                self._socket.close()
            self._socket = None

    def _dial(self) -> None:
        made = socket.create_connection(self._at, timeout=0.2)
        self._dialled.value += 1
        if self._is_secret:
            made = _TLS.wrap_socket(made, do_handshake_on_connect=False)
        made.setblocking(False)
        self._socket = made

    def _send(self, made: socket.socket) -> None:
        if isinstance(made, ssl.SSLSocket):
            made.do_handshake()
        if not self._left:
            self._left = memoryview(self._text)
        if self._left:
            self._left = self._left[made.send(self._left[:_PIECE]) :]
        elif made.recv(1) == b"":
            raise ConnectionResetError


_TLS = ssl.create_default_context()
_TLS.check_hostname, _TLS.verify_mode = False, ssl.CERT_NONE


def resident(pid: int) -> int:
    """Return the megabytes of memory that a process has."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE") // 2**20
