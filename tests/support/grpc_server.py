"""A server of gRPC over a socket that answers calls as a test tells it."""

import asyncio
import ssl
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from kwokctl.etcd.grpc import http2_frames
from tests.support.http2_peer import answer, parse

Reply = Callable[["Session", int, bytes], bytes | None]
"""Returns the frames for a call, from session, stream and message. None closes the connection."""

_PREFACE = 24


def echo(session: "Session", stream: int, content: bytes) -> bytes:
    """Answer with what was asked."""
    return answer(stream, content)


class Server:
    """What a test can tell and ask of a server."""

    def __init__(self, reply: Reply = echo, greeting: bytes | None = None) -> None:
        self.reply = reply
        self.greeting = http2_frames.settings({}) if greeting is None else greeting
        self.sessions: list[Session] = []
        """All connections that there have been."""

    @asynccontextmanager
    async def listening(
        self, path: Path, context: ssl.SSLContext | None = None
    ) -> AsyncIterator[str]:
        """Listen at a unix socket; yield what a client dials."""
        loop = asyncio.get_running_loop()
        path.unlink(missing_ok=True)
        server = await loop.create_unix_server(lambda: Session(self), str(path), ssl=context)
        try:
            yield f"unix:{path}"
        finally:
            server.close()
            for session in self.sessions:
                session.transport.abort()


class Session(asyncio.Protocol):
    """One connection."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._data = b""
        self._bodies: defaultdict[int, bytearray] = defaultdict(bytearray)
        self.transport: asyncio.Transport
        self.asked = 0
        self.resets: list[int] = []
        """Streams that the client has reset."""
        self.is_over = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.number = len(self._server.sessions)
        """0 for the first."""
        self._server.sessions.append(self)
        self.transport.write(self._server.greeting)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_over = True

    def data_received(self, data: bytes) -> None:
        self._data += data
        if len(self._data) < _PREFACE:
            return
        whole = _PREFACE if self._data.startswith(b"PRI") else 0
        while len(self._data) - whole >= http2_frames.HEAD.size:
            end = whole + http2_frames.HEAD.size + int.from_bytes(self._data[whole : whole + 3])
            if end > len(self._data):
                break
            self._on_frame(*parse(self._data[whole:end])[0])
            whole = end
        self._data = self._data[whole:]

    def _on_frame(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if kind == http2_frames.RST_STREAM:
            self.resets.append(stream)
        if kind != http2_frames.DATA:
            return
        self._bodies[stream] += payload
        self.transport.write(http2_frames.window_update(0, len(payload)))
        if not flags & http2_frames.END_STREAM:
            self.transport.write(http2_frames.window_update(stream, len(payload)))
            return
        self.asked += 1
        said: Any = self._server.reply(self, stream, bytes(self._bodies.pop(stream)[5:]))
        if said is None:
            self.transport.close()
        else:
            self.transport.write(said)
