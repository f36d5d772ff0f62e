"""A server that answers HTTP/1.1 exactly as a test says, byte for byte if need be."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a client has sent."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    connection: int
    """Which connection it came by, counted from 1."""


class Reply:
    """The way back to the client."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(
        self, body: bytes = b"{}", *, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole answer with its length."""
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"HTTP/1.1 {status} Whatever\r\nContent-Length: {len(body)}\r\n{more}\r\n"
        await self.raw(head.encode() + body)

    async def json(self, value: Any, *, status: int = 200, **headers: str) -> None:
        """Send a whole answer made of JSON."""
        await self.send(json.dumps(value).encode(), status=status, headers=headers)

    async def refuse(self, status: int, reason: str, message: str) -> None:
        """Send a `metav1.Status`."""
        body = {"kind": "Status", "code": status, "reason": reason, "message": message}
        await self.json(body, status=status)

    async def begin(self, *, status: int = 200) -> None:
        """Begin an answer that comes in chunks."""
        await self.raw(f"HTTP/1.1 {status} Whatever\r\nTransfer-Encoding: chunked\r\n\r\n".encode())

    async def chunk(self, data: bytes) -> None:
        """Send a chunk."""
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, kind: str, value: Any) -> None:
        """Send a line of a watch."""
        await self.chunk(json.dumps({"type": kind, "object": value}).encode() + b"\n")

    async def end(self) -> None:
        """End an answer that came in chunks."""
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        """Send any bytes."""
        self._writer.write(data)
        await self._writer.drain()

    def close(self) -> None:
        """Close the connection in good order."""
        self._writer.close()

    def cut(self) -> None:
        """Cut the connection."""
        self._writer.transport.abort()


Handler = Callable[[Request, Reply], Awaitable[None]]


class FakeApiServer:
    """A running server."""

    def __init__(self, handle: Handler) -> None:
        self._handle = handle
        self._writers: set[asyncio.StreamWriter] = set()
        self.tasks: list[asyncio.Task[None]] = []
        self.url = ""
        self.connections = 0
        self.requests: list[Request] = []

    def drop_all(self) -> None:
        """Close every connection, as a server does that is tired of idle ones."""
        for writer in self._writers:
            writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        task = asyncio.current_task()
        assert task is not None
        self.tasks.append(task)
        self.connections += 1
        number = self.connections
        self._writers.add(writer)
        try:
            while (request := await _read(reader, number)) is not None:
                self.requests.append(request)
                await self._handle(request, Reply(writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def abort(self) -> None:
        """Cut every connection."""
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def serving(
    handle: Handler, *, context: ssl.SSLContext | None = None, socket: Path | None = None
) -> AsyncIterator[FakeApiServer]:
    """Run a server that answers with `handle`, on a free port or a unix socket."""
    fake = FakeApiServer(handle)
    if socket is not None:
        server = await asyncio.start_unix_server(fake.serve, socket, ssl=context)
        fake.url = "http://localhost" if context is None else "https://localhost"
    else:
        server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=context)
        port = server.sockets[0].getsockname()[1]
        fake.url = f"{'https' if context else 'http'}://127.0.0.1:{port}"
    try:
        yield fake
    finally:
        server.close()
        fake.abort()
        for task in fake.tasks:
            task.cancel()
        ends = await asyncio.gather(*fake.tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, Exception):
            raise end


async def _read(reader: asyncio.StreamReader, number: int) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode().rstrip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    parts = urlsplit(target)
    return Request(
        method=method,
        path=parts.path,
        query=dict(parse_qsl(parts.query)),
        headers=headers,
        body=await reader.readexactly(int(headers.get("content-length", "0"))),
        connection=number,
    )
