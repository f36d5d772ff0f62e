"""The ways in which a server of files can break: each writes one answer that is wrong."""

import gzip
import socket
import struct
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from threading import Event

Fault = Callable[[BaseHTTPRequestHandler, bytes, Event], None]
_ENDLESS = 64 << 20


def _head(handler: BaseHTTPRequestHandler, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


def _no_answer(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Close the connection without a word."""


def _reset(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Break the connection off amid the file."""
    _head(handler, Content_Length=str(len(content)))
    handler.wfile.write(content[: len(content) // 2])
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def _stall(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send half, and nothing more."""
    _head(handler, Content_Length=str(len(content)))
    handler.wfile.write(content[: len(content) // 2])
    over.wait()


def _mute(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Take the request, and never answer."""
    over.wait()


def _cut_without_length(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send half of a file whose length is not given: its end looks like that of a whole one."""
    _head(handler, Connection="close")
    handler.wfile.write(content[: len(content) // 2])


def _cut_chunks(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send chunks without the last one."""
    _head(handler, Transfer_Encoding="chunked")
    half = content[: len(content) // 2]
    handler.wfile.write(f"{len(half):x}\r\n".encode() + half + b"\r\n")


def _short(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Give a length that is too small."""
    _head(handler, Content_Length=str(len(content) - 1))
    handler.wfile.write(content)


def _long(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Give a length that is too large."""
    _head(handler, Content_Length=str(len(content) + 1))
    handler.wfile.write(content)


def _other_part(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send another part than that which was requested."""
    _head(
        handler, 206, Content_Range=f"bytes 1-{len(content) - 1}/{len(content)}",
        Content_Length=str(len(content) - 1),
    )  # fmt: skip
    handler.wfile.write(content[1:])


def _flipped(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Change a bit."""
    _head(handler, Content_Length=str(len(content)))
    handler.wfile.write(content[:-1] + bytes([content[-1] ^ 1]))


def _page(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send a page, as networks do that want their users to log in first."""
    _head(handler, Content_Length="6", Content_Type="text/html")
    handler.wfile.write(b"<html>")


def _squeezed(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Compress what was requested as it is."""
    packed = gzip.compress(content, compresslevel=1)
    _head(handler, Content_Length=str(len(packed)), Content_Encoding="gzip")
    handler.wfile.write(packed)


def _circle(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Lead to the same address again."""
    _head(handler, 302, Location=handler.path, Content_Length="0")


def _endless(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send more than there is."""
    _head(handler, Connection="close")
    sent = 0
    while sent < _ENDLESS and not over.is_set():
        sent += handler.wfile.write(bytes(1 << 16))


def _noise(handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Send what is no HTTP."""
    handler.wfile.write(b"\x16\x03\x01 hello\r\n")


FAULTS: Mapping[str, Fault] = {
    fault.__name__.removeprefix("_"): fault
    for fault in (
        _no_answer, _reset, _stall, _mute, _cut_without_length, _cut_chunks, _short, _long,
        _other_part, _flipped, _page, _squeezed, _circle, _endless, _noise,
    )
}  # fmt: skip


def fail(fault: str, handler: BaseHTTPRequestHandler, content: bytes, over: Event) -> None:
    """Answer wrongly; clients may be gone before that."""
    try:
        FAULTS[fault](handler, content, over)
    except OSError:
        return
