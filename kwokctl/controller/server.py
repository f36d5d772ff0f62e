"""Answers whether the controller lives and works, what it counts, and what `scale` asks it.

Plain HTTP. What is posted must be called JSON: a page that a browser shows cannot send that
unasked (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from kwokctl.errors import UsageError

log = logging.getLogger(__name__)

_LONGEST_HEAD = 16 * 1024
_LONGEST_BODY = 4 * 1024 * 1024
_PATIENCE = 10.0
_REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    405: "Method Not Allowed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    503: "Service Unavailable",
}
_TEXT = "text/plain; version=0.0.4; charset=utf-8"
_JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the server asks when somebody wants to know."""

    is_ready: Callable[[], bool]
    metrics: Callable[[], Awaitable[str]]
    identity: Callable[[], bytes | None]
    """Who holds the leases of nodes, as JSON; None before that is settled."""
    seen: Callable[[], bytes | None]
    """How far the watches have come, as JSON."""
    reserve: Callable[[bytes], bytes | None]
    """Reserves addresses of pods: JSON in and out; ValueError for what cannot be read."""


class StatusServer:
    """Serves `/healthz`, `/livez`, `/readyz`, `/metrics`, and what `scale` asks."""

    def __init__(self, answers: Answers) -> None:
        """Ask `answers` whenever somebody wants to know."""
        self._answers = answers
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen; OSError if the address is taken or does not exist."""
        self._server = await asyncio.start_server(
            self._serve, host, port, limit=_LONGEST_HEAD, reuse_address=True
        )

    @property
    def port(self) -> int:
        """Return the port that is listened on, 0 before `start`."""
        return self._server.sockets[0].getsockname()[1] if self._server is not None else 0

    def close(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(await self._answer(head, reader))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _answer(self, head: bytes, reader: asyncio.StreamReader) -> bytes:
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        method, path = (words[0], words[1].split("?")[0]) if len(words) > 1 else ("", "")
        if method == "POST" and path == "/pod-addresses":
            return await self._reserve(head, reader)
        if method not in {"GET", "HEAD"}:
            return _response(405, "method not allowed\n", method)
        return await self._read(path, method)

    async def _read(self, path: str, method: str) -> bytes:
        match path:
            case "/healthz" | "/livez":
                return _response(200, "ok", method)
            case "/readyz":
                ready = self._answers.is_ready()
                return _response(200 if ready else 503, "ok" if ready else "not synced", method)
            case "/metrics":
                return _response(200, await self._answers.metrics(), method)
            case "/identity":
                return _json(self._answers.identity(), method)
            case "/seen":
                return _json(self._answers.seen(), method)
            case _:
                return _response(404, "not found\n", method)

    async def _reserve(self, head: bytes, reader: asyncio.StreamReader) -> bytes:
        if _header(head, b"content-type").partition(b";")[0].strip() != _JSON.encode():
            return _response(415, f"the body must be {_JSON}\n", "POST")
        length = _header(head, b"content-length")
        if not length.isdigit() or int(length) > _LONGEST_BODY:
            return _response(413, "the body is too long, or its length is not told\n", "POST")
        try:
            return _json(self._answers.reserve(await reader.readexactly(int(length))), "POST")
        except ValueError as e:
            return _response(400, f"{e}\n", "POST")


def parse_address(text: str) -> tuple[str, int]:
    """Split "host:port"; the host may be empty for all addresses, or in brackets."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"'{text}' is no address to serve", hint="write host:port")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - what an empty host means to users


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""


def _json(body: bytes | None, method: str) -> bytes:
    if body is None:
        return _response(503, "not synced", method)
    return _response(200, body, method, kind=_JSON)


def _response(status: int, content: str | bytes, method: str, *, kind: str = _TEXT) -> bytes:
    body = content.encode() if isinstance(content, str) else content
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        f"Content-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else body)
