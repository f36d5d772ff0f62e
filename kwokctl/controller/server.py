"""Answers whether the controller lives and works, and what it counts. Plain HTTP, GET only."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from kwokctl.errors import UsageError

log = logging.getLogger(__name__)

_LONGEST_REQUEST = 16 * 1024
_PATIENCE = 10.0
_REASONS = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}


class StatusServer:
    """Serves `/healthz`, `/livez`, `/readyz` and `/metrics`."""

    def __init__(self, *, is_ready: Callable[[], bool], metrics: Callable[[], str]) -> None:
        """Ask `is_ready` and `metrics` whenever somebody wants to know."""
        self._is_ready = is_ready
        self._metrics = metrics
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> None:
        """Listen; OSError if the address is taken or does not exist."""
        self._server = await asyncio.start_server(
            self._serve, host, port, limit=_LONGEST_REQUEST, reuse_address=True
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
                writer.write(self._answer(head))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            pass
        finally:
            writer.close()
            with suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    def _answer(self, head: bytes) -> bytes:
        words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        method, path = (words[0], words[1].split("?")[0]) if len(words) > 1 else ("", "")
        if method not in {"GET", "HEAD"}:
            return _response(405, "method not allowed\n", method)
        match path:
            case "/healthz" | "/livez":
                return _response(200, "ok", method)
            case "/readyz":
                ready = self._is_ready()
                return _response(200 if ready else 503, "ok" if ready else "not synced", method)
            case "/metrics":
                return _response(200, self._metrics(), method)
            case _:
                return _response(404, "not found\n", method)


def parse_address(text: str) -> tuple[str, int]:
    """Split "host:port"; the host may be empty for all addresses, or in brackets."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(f"'{text}' is no address to serve", hint="write host:port")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104 - what an empty host means to users


def _response(status: int, text: str, method: str) -> bytes:
    body = text.encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\n"
        "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + (b"" if method == "HEAD" else body)
