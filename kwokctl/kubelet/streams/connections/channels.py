"""Channels over WebSocket: each message begins with the number of the one that it is for."""

import binascii
import logging
from collections.abc import Iterable, Mapping

import msgspec

from kwokctl.kubelet.streams.connections.inbox import Inbox
from kwokctl.kubelet.streams.connections.websocket_connection import (
    MessagePiece,
    WebSocketConnection,
)

log = logging.getLogger(__name__)

_ZERO = ord("0")
_CLOSING = 255


class ChannelFormat(msgspec.Struct, frozen=True):
    """The differences between the protocols."""

    has_statuses: bool = True
    """Whether the end of a command is sent as a Status."""
    is_base64: bool = False
    """Whether messages are texts: a digit, and the rest in base64."""
    has_closing: bool = False
    """Whether the client can say that one of its channels ends."""


FORMATS: Mapping[str, ChannelFormat] = {
    "v5.channel.k8s.io": ChannelFormat(has_closing=True),
    "v4.channel.k8s.io": ChannelFormat(),
    "v4.base64.channel.k8s.io": ChannelFormat(is_base64=True),
    "channel.k8s.io": ChannelFormat(has_statuses=False),
    "base64.channel.k8s.io": ChannelFormat(has_statuses=False, is_base64=True),
    "": ChannelFormat(has_statuses=False),
}
"""By protocol; a client that names none gets the oldest."""


class Channels:
    """A WebSocket connection with channels."""

    def __init__(
        self, socket: WebSocketConnection, form: ChannelFormat, inputs: Iterable[int]
    ) -> None:
        """Keep what comes for the channels in `inputs`; what comes for others is dropped."""
        self._socket, self._form = socket, form
        self._inboxes = {number: Inbox() for number in inputs}
        self._current: int | None = None
        """The channel of the message that comes, once its number is read."""
        self._undecoded = b""
        self.pulse = socket.pulse

    async def run(self) -> None:
        """Take in what comes; return when the client has disconnected or broken the protocol."""
        try:
            while (piece := await self._socket.receive()) is not None:
                await self._take(piece)
        except binascii.Error as e:
            log.debug("a client sends invalid base64: %s", e)
        finally:
            for inbox in self._inboxes.values():
                inbox.end()

    async def read(self, channel: int) -> bytes:
        """Return the received bytes; b"" at the end, or if nothing is kept for this channel."""
        inbox = self._inboxes.get(channel)
        return await inbox.read() if inbox is not None else b""

    async def send(self, channel: int, data: bytes) -> None:
        """Send a message; ConnectionError if the client is gone."""
        if self._form.is_base64:
            message = bytes((channel + _ZERO,)) + binascii.b2a_base64(data, newline=False)
        else:
            message = bytes((channel,)) + data
        await self._socket.send(message, as_text=self._form.is_base64)

    def drop(self, channel: int) -> None:
        """Read no more of a channel, so that the others are not held up by it."""
        if (inbox := self._inboxes.get(channel)) is not None:
            inbox.drop()

    async def say_goodbye(self) -> None:
        """Tell the client that all is done, and take no more from it."""
        for inbox in self._inboxes.values():
            inbox.drop()
        await self._socket.say_goodbye()

    async def _take(self, piece: MessagePiece) -> None:
        data = piece.data
        if piece.is_first:
            self._current, self._undecoded = None, b""
        if self._current is None:
            if not data:
                return
            self._current = data[0] - _ZERO if self._form.is_base64 else data[0]
            data = data[1:]
        if self._form.has_closing and self._current == _CLOSING:
            self._end(data)
        elif (inbox := self._inboxes.get(self._current)) is not None:
            await inbox.put(self._decoded(data))

    def _end(self, channels: bytes) -> None:
        for number in channels:
            if (inbox := self._inboxes.get(number)) is not None:
                inbox.end()

    def _decoded(self, data: bytes) -> bytes:
        if not self._form.is_base64:
            return data
        data = self._undecoded + data
        whole = len(data) - len(data) % 4
        self._undecoded = data[whole:]
        return binascii.a2b_base64(data[:whole])
