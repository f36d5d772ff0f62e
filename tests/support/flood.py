"""Another user of this machine, who floods a port of TLS without a credential that is worth anything."""

import os
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import c_ulong
from multiprocessing import get_context
from pathlib import Path

from tests.support.stranger import NOBODY

_CONNECTIONS = 160
_TIMES = 3
"""How often each connection is made at most: a flood without an end takes the more processor time the busier the machine is."""
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

_PAUSE = 0.01
"""Seconds after a round in which no connection could do anything."""


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
        if not sum(each.go_on() for each in connections):
            time.sleep(_PAUSE)


class _Client:
    """One connection, which is made again when the server closes it, and takes no answer."""

    def __init__(self, port: int, text: bytes, is_secret: bool, dialled: c_ulong) -> None:
        self._at = ("127.0.0.1", port)
        self._text = text
        self._is_secret = is_secret
        self._dialled = dialled
        self._socket: socket.socket | None = None
        self._times = 0
        self._left = memoryview(b"")

    def go_on(self) -> bool:
        """Send what fits without waiting; return whether there was anything to do."""
        if self._socket is None and self._times == _TIMES:
            return False
        try:
            if self._socket is None:
                self._dial()
            else:
                self._send(self._socket)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            if self._socket is not None:
                self._socket.close()
            self._socket = None
        return True

    def _dial(self) -> None:
        self._times += 1
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


def peak(pid: int) -> int:
    """Return the most megabytes of memory that a process has had since `forget_peak`."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0]) // 1024


def forget_peak(pid: int) -> None:
    """Let the kernel take what memory a process has now for its peak (proc_pid_clear_refs(5))."""
    Path(f"/proc/{pid}/clear_refs").write_text("5", encoding="ascii")
