"""Clients of a kubelet's streams that write every byte themselves, over real connections."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlencode

from websockets.frames import Frame as Message
from websockets.frames import Opcode
from websockets.protocol import CLIENT, OPEN, Protocol

from kwokctl.json_value import Json
from tests.support import spdy_client
from tests.support.spdy_client import FIN, Frame, SpdyClient

SYN_REPLY, RST_STREAM, GOAWAY = 2, 3, 7
_FLAGS = {"stdin": "input", "stdout": "output", "stderr": "error"}


def exec_path(command: Sequence[str], *streams: str, tty: bool = False, verb: str = "exec") -> str:
    """Return the path of a request of the API server to a kubelet."""
    parameters = [("command", word) for word in command]
    parameters += [(_FLAGS[name], "1") for name in streams if name in _FLAGS]
    parameters += [("tty", "1")] if tty else []
    return f"/{verb}/default/web/main?{urlencode(parameters)}"


@dataclass
class Upgraded:
    """A connection, and what the server has answered to the request."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    status: int
    headers: Mapping[str, str]
    body: str = ""

    async def read(self) -> bytes:
        async with asyncio.timeout(20):
            with suppress(ConnectionResetError):
                return await self.reader.read(1 << 16)
        return b""

    async def send(self, *data: bytes) -> None:
        self.writer.write(b"".join(data))
        await self.writer.drain()

    def cut(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def asking(
    port: int, path: str, headers: Sequence[tuple[str, str]], method: str = "GET"
) -> AsyncIterator[Upgraded]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{method} {path} HTTP/1.1", "Host: node", *(f"{k}: {v}" for k, v in headers)]
    writer.write("\r\n".join((*lines, "", "")).encode())
    try:
        yield await _answered(reader, writer)
    finally:
        writer.transport.abort()


async def _answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Upgraded:
    async with asyncio.timeout(20):
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().strip().split("\r\n")
    pairs = (line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in pairs}
    found = Upgraded(reader, writer, int(first.split()[1]), headers)
    if found.status != 101:
        found.body = (await reader.readexactly(int(headers["content-length"]))).decode()
    return found


def spdy_headers(*protocols: str) -> list[tuple[str, str]]:
    asked = [("X-Stream-Protocol-Version", protocol) for protocol in protocols]
    return [("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1"), *asked]


def websocket_headers(*protocols: str) -> list[tuple[str, str]]:
    key = ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
    asked = [("Sec-WebSocket-Protocol", ", ".join(protocols))] if protocols else []
    version = ("Sec-WebSocket-Version", "13")
    return [("Connection", "Upgrade"), ("Upgrade", "websocket"), key, version, *asked]


@dataclass
class SpdyPeer:
    """A client of SPDY: opens streams, and keeps what comes for each."""

    wire: Upgraded
    client: SpdyClient = field(default_factory=SpdyClient)
    received: dict[int, bytes] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    was_reset: set[int] = field(default_factory=set)
    accepted: set[int] = field(default_factory=set)
    says_goodbye: bool = False
    last: int = -1

    async def open(self, **headers: str) -> int:
        self.last += 2
        await self.wire.send(self.client.open(self.last, headers))
        return self.last

    async def send(self, stream: int, payload: bytes, flags: int = 0) -> None:
        await self.wire.send(spdy_client.data(stream, payload, flags))

    async def end(self, stream: int) -> None:
        await self.send(stream, b"", FIN)

    async def more(self) -> bool:
        """Take in what has come; False if the server has closed the connection."""
        data = await self.wire.read()
        for frame in self.client.frames(data):
            self._take(frame)
        return bool(data)

    async def until_end_of(self, stream: int) -> bytes:
        while stream not in self.ended | self.was_reset:
            assert await self.more(), "the server has closed the connection"
        return self.received.get(stream, b"")

    async def until(self, stream: int, text: bytes) -> None:
        while text not in self.received.get(stream, b""):
            assert await self.more(), "the server has closed the connection"

    async def until_closed(self) -> None:
        while await self.more():
            pass

    def _take(self, frame: Frame) -> None:
        if frame.kind is None:
            self.received[frame.stream] = self.received.get(frame.stream, b"") + frame.payload
            if frame.flags & FIN:
                self.ended.add(frame.stream)
        elif frame.kind == RST_STREAM:
            self.was_reset.add(frame.stream)
        elif frame.kind == GOAWAY:
            self.says_goodbye = True
        elif frame.kind == SYN_REPLY:
            self.accepted.add(frame.stream)


@dataclass
class WebSocketPeer:
    """A client of WebSocket, and what has come on each channel."""

    wire: Upgraded
    protocol: Protocol = field(default_factory=lambda: Protocol(CLIENT, state=OPEN, max_size=None))
    received: dict[int, bytes] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    whole: list[bytes] = field(default_factory=list)
    """The messages that are binary, as they came."""

    @property
    def close_code(self) -> int | None:
        return self.protocol.close_rcvd.code if self.protocol.close_rcvd else None

    async def send(self, data: bytes, *, as_text: bool = False, fin: bool = True) -> None:
        (self.protocol.send_text if as_text else self.protocol.send_binary)(data, fin)
        await self.flush()

    async def go_on(self, data: bytes, *, fin: bool = True) -> None:
        self.protocol.send_continuation(data, fin)
        await self.flush()

    async def flush(self) -> None:
        await self.wire.send(*self.protocol.data_to_send())

    async def more(self) -> bool:
        data = await self.wire.read()
        if not data:
            return False
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            assert isinstance(event, Message)
            self._take(event)
        await self.flush()
        return True

    async def until_closed(self) -> None:
        """Read on until the server says goodbye."""
        while self.protocol.close_rcvd is None and await self.more():
            pass

    async def until(self, channel: int, text: bytes) -> None:
        while text not in self.received.get(channel, b""):
            assert await self.more(), "the server has closed the connection"

    def _take(self, message: Message) -> None:
        if message.opcode is Opcode.TEXT:
            self.texts.append(bytes(message.data).decode())
        elif message.opcode is Opcode.BINARY:
            self.whole.append(bytes(message.data))
            number = message.data[0]
            self.received[number] = self.received.get(number, b"") + bytes(message.data[1:])


def status(reported: bytes) -> Json:
    """Return a Status as a client reads it."""
    return json.loads(reported)
