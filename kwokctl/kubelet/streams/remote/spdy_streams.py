"""Carries the streams of a command over SPDY: the client opens one for each."""

import asyncio

from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection, SpdyStream
from kwokctl.kubelet.streams.remote.options import StreamOptions
from kwokctl.kubelet.streams.remote.streams import StreamName

PROTOCOLS = ("v4.channel.k8s.io", "v3.channel.k8s.io", "v2.channel.k8s.io", "channel.k8s.io")
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
