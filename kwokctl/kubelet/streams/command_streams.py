"""The streams between a client and a command, as exec and attach have them, over WebSocket or SPDY.

Over WebSocket each has a channel; over SPDY the client opens one for each.
"""

import asyncio
from enum import Enum
from typing import Protocol

import msgspec

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.streams.connections.channels import FORMATS, Channels
from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection, SpdyStream
from kwokctl.kubelet.streams.connections.websocket_connection import WebSocketConnection


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The requested streams, and the command."""

    stdin: bool
    stdout: bool
    stderr: bool
    tty: bool
    command: tuple[str, ...] = ()


def read_options(request: Request) -> StreamOptions:
    """Read the parameters of the kubelet, which differ from those of the API server.

    A terminal has no standard error of its own. Raises RefusedError if no stream is requested, or
    for a command that no program can be given.
    """
    tty = _is_on(request, "tty")
    options = StreamOptions(
        stdin=_is_on(request, "input"),
        stdout=_is_on(request, "output"),
        stderr=_is_on(request, "error") and not tty,
        tty=tty,
        command=request.parameters("command"),
    )
    if not (options.stdin or options.stdout or options.stderr):
        raise RefusedError(400, "at least one of stdin, stdout and stderr must be requested")
    if any("\0" in word for word in options.command):
        raise RefusedError(400, "a command cannot have a zero byte")
    return options


def _is_on(request: Request, name: str) -> bool:
    # https://pkg.go.dev/k8s.io/kubelet/pkg/cri/streaming/remotecommand takes only this value.
    return request.parameter(name) == "1"


class StreamName(Enum):
    """The streams, in the order of their channels; SPDY has their names."""

    STDIN = "stdin"
    STDOUT = "stdout"
    STDERR = "stderr"
    ERROR = "error"
    RESIZE = "resize"


class RemoteStreams(Protocol):
    """A connection that carries them."""

    @property
    def has_statuses(self) -> bool:
        """Whether the end is sent as a Status in JSON; as a text, and only errors, otherwise."""
        ...

    async def opened(self) -> None:
        """Return when all streams are there; TimeoutError if the client does not open them."""
        ...

    async def read(self, name: StreamName) -> bytes:
        """Return the received bytes; b"" at the end, or if there is no such stream."""
        ...

    async def write(self, name: StreamName, data: bytes) -> None:
        """Send data, if the client has asked for the stream; ConnectionError if it is gone."""
        ...

    def drop(self, name: StreamName) -> None:
        """Read no more of a stream, so that the others are not held up by it."""
        ...

    async def run(self) -> None:
        """Take in what comes; return when the client has disconnected or broken the protocol."""
        ...

    async def pulse(self) -> None:
        """Give a sign of life; ConnectionError if the client has disconnected."""
        ...

    async def say_goodbye(self) -> None:
        """End all streams, and tell the client so."""
        ...


CHANNEL_PROTOCOLS = tuple(FORMATS)
_NUMBERS = {name: number for number, name in enumerate(StreamName)}


class ChannelStreams:
    """The streams of one command."""

    def __init__(self, socket: WebSocketConnection, protocol: str, options: StreamOptions) -> None:
        """Carry the streams that were requested, one for errors, and one for sizes."""
        asked = {
            StreamName.STDIN: options.stdin,
            StreamName.STDOUT: options.stdout,
            StreamName.STDERR: options.stderr,
            StreamName.ERROR: True,
            StreamName.RESIZE: options.tty,
        }
        self._asked = {name for name, is_asked in asked.items() if is_asked}
        inputs = self._asked & {StreamName.STDIN, StreamName.RESIZE}
        self._channels = Channels(socket, FORMATS[protocol], map(_NUMBERS.__getitem__, inputs))
        self.has_statuses = FORMATS[protocol].has_statuses
        self.run, self.pulse = self._channels.run, self._channels.pulse

    async def opened(self) -> None:
        """Tell the client that all is there: by a message that is empty."""
        outputs = (StreamName.STDOUT, StreamName.STDERR, StreamName.ERROR)
        await self.write(next(name for name in outputs if name in self._asked), b"")

    async def read(self, name: StreamName) -> bytes:
        """Return the received bytes; b"" at the end, or if there is no such stream."""
        return await self._channels.read(_NUMBERS[name])

    async def write(self, name: StreamName, data: bytes) -> None:
        """Send data, if the client has asked for the stream; ConnectionError if it is gone."""
        if name in self._asked:
            await self._channels.send(_NUMBERS[name], data)

    def drop(self, name: StreamName) -> None:
        """Read no more of a stream, so that the others are not held up by it."""
        self._channels.drop(_NUMBERS[name])

    async def say_goodbye(self) -> None:
        """End all streams, and tell the client so."""
        await self._channels.say_goodbye()


SPDY_PROTOCOLS = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
_WITH_STATUSES = frozenset({"v4.channel.k8s.io"})
_WITH_RESIZING = frozenset({"v4.channel.k8s.io", "v3.channel.k8s.io"})
_PATIENCE = 30.0
"""Seconds in which a client must open its streams; the kubelet's default."""
_NAMES = {each.value: each for each in StreamName}


class SpdyStreams:
    """The streams of one command."""

    def __init__(self, connection: SpdyConnection, protocol: str, options: StreamOptions) -> None:
        """Expect the streams that were requested, one for errors, and perhaps one for sizes."""
        self._connection = connection
        self._streams: dict[StreamName, SpdyStream] = {}
        asked = (options.stdin, options.stdout, options.stderr)
        self._expected = 1 + sum(asked) + (options.tty and protocol in _WITH_RESIZING)
        self.has_statuses = protocol in _WITH_STATUSES
        self.run, self.pulse = connection.run, connection.pulse

    async def opened(self) -> None:
        """Return when all streams are there; TimeoutError if the client does not open them."""
        async with asyncio.timeout(_PATIENCE):
            while len(self._streams) < self._expected:
                stream = await self._connection.accept()
                name = _NAMES.get(stream.headers.get("streamtype", ""))
                if name is None or name in self._streams:
                    await stream.reset()
                else:
                    self._streams[name] = stream

    async def read(self, name: StreamName) -> bytes:
        """Return the received bytes; b"" at the end, or if there is no such stream."""
        stream = self._streams.get(name)
        return await stream.read() if stream is not None else b""

    async def write(self, name: StreamName, data: bytes) -> None:
        """Send data, if the client has opened the stream; ConnectionError if it is gone."""
        if (stream := self._streams.get(name)) is not None:
            await stream.write(data)

    def drop(self, name: StreamName) -> None:
        """Read no more of a stream, so that the others are not held up by it."""
        if (stream := self._streams.get(name)) is not None:
            stream.inbox.drop()

    async def say_goodbye(self) -> None:
        """End all streams, and tell the client so."""
        for stream in self._streams.values():
            await stream.end()
        await self._connection.say_goodbye()
