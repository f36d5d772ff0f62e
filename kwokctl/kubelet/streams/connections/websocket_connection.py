"""A WebSocket connection that reads and writes; the protocol itself is the library's.

As a tunnel it carries another connection: what its messages carry is taken for one stream of bytes.
"""

import asyncio
from collections import deque
from contextlib import suppress

import msgspec
from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from kwokctl.embedded.http.messages import RawStream

_DATA = frozenset({Opcode.TEXT, Opcode.BINARY, Opcode.CONT})


class MessagePiece(msgspec.Struct, frozen=True, gc=False):
    """A message, or a part of one that the client sends in parts."""

    data: bytes
    is_first: bool


class WebSocketConnection:
    """Messages both ways, over a connection whose handshake is done."""

    def __init__(self, protocol: ServerProtocol, raw: RawStream) -> None:
        self._protocol, self._raw = protocol, raw
        self._pieces: deque[MessagePiece] = deque()
        self._turn = asyncio.Lock()

    async def receive(self) -> MessagePiece | None:
        """Return the received bytes, None if the client disconnected or has broken the protocol.

        After our goodbye it waits for the client's: what is on its way until then is still read.
        """
        while not self._pieces:
            if self._protocol.close_rcvd is not None or self._protocol.parser_exc is not None:
                return None
            if data := await self._raw.read():
                self._protocol.receive_data(data)
            else:
                self._protocol.receive_eof()
            self._pieces.extend(map(_piece, filter(_has_data, self._protocol.events_received())))
            await self._flush()
        return self._pieces.popleft()

    async def send(self, data: bytes, *, as_text: bool = False) -> None:
        """Send a message; ConnectionError if the client is gone."""
        self._check_open()
        if as_text:
            self._protocol.send_text(data)
        else:
            self._protocol.send_binary(data)
        await self._flush()

    async def pulse(self) -> None:
        """Give a sign of life; ConnectionError if the client is gone."""
        self._check_open()
        self._protocol.send_ping(b"")
        await self._flush()

    async def say_goodbye(self) -> None:
        """Say that all is done."""
        if self._protocol.state is OPEN:
            self._protocol.send_close(CloseCode.NORMAL_CLOSURE)
            await self._flush()

    def _check_open(self) -> None:
        if self._protocol.state is not OPEN:
            raise ConnectionResetError

    async def _flush(self) -> None:
        async with self._turn:
            # An empty piece would close our side; that is for the caller that handed us the connection.
            if output := b"".join(self._protocol.data_to_send()):
                await self._raw.write(output)


def _has_data(event: object) -> bool:
    return isinstance(event, Frame) and event.opcode in _DATA


def _piece(event: object) -> MessagePiece:
    assert isinstance(event, Frame)
    return MessagePiece(bytes(event.data), event.opcode is not Opcode.CONT)


class WebSocketTunnel:
    """The bytes in the messages of a WebSocket connection; where these end means nothing."""

    def __init__(self, socket: WebSocketConnection) -> None:
        """Use a connection whose handshake is done."""
        self._socket = socket

    async def read(self) -> bytes:
        """Return the received bytes, at least one byte; b"" at the end."""
        while (piece := await self._socket.receive()) is not None:
            if piece.data:
                return piece.data
        return b""

    async def write(self, data: bytes) -> None:
        """Send data; ConnectionError if the client is gone."""
        await self._socket.send(data)

    async def close(self) -> None:
        """Say that no more comes, to a client that is still there."""
        with suppress(ConnectionError):
            await self._socket.say_goodbye()
