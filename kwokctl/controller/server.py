"""Answers whether the controller lives and works, what it counts, and what `scale` asks it.

Plain HTTP. What is posted must be called JSON: a page that a browser shows cannot send that
unasked (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
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
    seen: Callable[[], bytes | None]
    """How far the watches have come, as JSON; None before there are any."""
    reserve: Callable[[bytes], bytes | None]
    """Reserves addresses of pods: JSON in and out; ValueError for what cannot be read."""


class StatusServer:
    """Serves `/healthz`, `/livez`, `/readyz`, `/metrics`, and what `scale` asks."""

    def __init__(self, answers: Answers) -> None:
        """Ask `answers` whenever somebody wants to know."""
        self._answers = answers
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen; OSError if the address is taken or does not exist. Commas part several hosts."""
        self._server = await asyncio.start_server(
            self._serve, host.split(","), port, limit=_LONGEST_HEAD, reuse_address=True
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
            while await self._serve_one(reader, writer):
                pass
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; False if it has to be the connection's last."""
        async with asyncio.timeout(_PATIENCE):
            head = await reader.readuntil(b"\r\n\r\n")
            words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
            method, path = (words[0], words[1].split("?")[0]) if len(words) > 1 else ("", "")
            response = await self._answer(method, path, head, reader)
            # What is refused may come with a body that nobody has read.
            is_kept = response.status in (200, 503) and _may_be_kept(words, head)
            writer.write(response.encoded(with_body=method != "HEAD", is_kept=is_kept))
            await writer.drain()
        return is_kept

    async def _answer(
        self, method: str, path: str, head: bytes, reader: asyncio.StreamReader
    ) -> "_Response":
        if method == "POST" and path == "/pod-addresses":
            return await self._reserve(head, reader)
        if method not in {"GET", "HEAD"}:
            return _Response(405, "method not allowed\n")
        return await self._read(path)

    async def _read(self, path: str) -> "_Response":
        match path:
            case "/healthz" | "/livez":
                return _Response(200, "ok")
            case "/readyz":
                ready = self._answers.is_ready()
                return _Response(200 if ready else 503, "ok" if ready else "not synced")
            case "/metrics":
                return _Response(200, await self._answers.metrics())
            case "/seen":
                return _json(self._answers.seen())
            case _:
                return _Response(404, "not found\n")

    async def _reserve(self, head: bytes, reader: asyncio.StreamReader) -> "_Response":
        if _header(head, b"content-type").partition(b";")[0].strip() != _JSON.encode():
            return _Response(415, f"the body must be {_JSON}\n")
        length = _header(head, b"content-length")
        if not length.isdigit() or int(length) > _LONGEST_BODY:
            return _Response(413, "the body is too long, or its length is not told\n")
        try:
            return _json(self._answers.reserve(await reader.readexactly(int(length))))
        except ValueError as e:
            return _Response(400, f"{e}\n")


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


def _may_be_kept(words: Sequence[str], head: bytes) -> bool:
    """Tell whether a connection may carry another request after this one."""
    if words[-1] != "HTTP/1.1" or _header(head, b"connection").lower() == b"close":
        return False
    return words[0] == "POST" or not _header(head, b"content-length")


@dataclass(frozen=True, slots=True)
class _Response:
    status: int
    content: str | bytes
    kind: str = _TEXT

    def encoded(self, *, with_body: bool, is_kept: bool) -> bytes:
        body = self.content.encode() if isinstance(self.content, str) else self.content
        head = (
            f"HTTP/1.1 {self.status} {_REASONS[self.status]}\r\n"
            f"Content-Type: {self.kind}\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Connection: {'keep-alive' if is_kept else 'close'}\r\n\r\n"
        )
        return head.encode() + (body if with_body else b"")


def _json(body: bytes | None) -> _Response:
    return _Response(503, "not synced") if body is None else _Response(200, body, _JSON)
