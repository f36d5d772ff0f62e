"""A SPDY connection that reads and writes, and its streams."""

import asyncio
import logging
from collections.abc import Mapping
from weakref import WeakValueDictionary

from kwokctl.embedded.http.messages import RawStream
from kwokctl.kubelet.streams.connections.inbox import Inbox
from kwokctl.kubelet.streams.spdy.protocol import SpdyEvent, SpdyProtocol, StreamData, StreamOpened
from kwokctl.kubelet.streams.spdy.spdy_frames import ResetStatus, SpdyError

log = logging.getLogger(__name__)


class SpdyStream:
    """A stream that the client has opened; each side ends for itself."""

    def __init__(self, number: int, headers: Mapping[str, str], wire: "_Wire") -> None:
        """Wait for data; made by the connection."""
        self.number = number
        self.headers = headers
        self.inbox = Inbox()
        self.was_reset = asyncio.Event()
        """Whether the client has ended both sides at once."""
        self._wire = wire

    async def read(self) -> bytes:
        """Return the received bytes; b"" at the end, also that of the connection."""
        return await self.inbox.read()

    async def write(self, data: bytes) -> None:
        """Send data, unless the stream was ended; ConnectionError if the client is gone."""
        self._wire.protocol.send(self.number, data)
        await self._wire.flush()

    async def end(self) -> None:
        """Send nothing more."""
        self._wire.protocol.send(self.number, b"", is_last=True)
        await self._wire.flush()

    async def reset(self, status: ResetStatus = ResetStatus.CANCEL) -> None:
        """End both sides at once."""
        self.inbox.drop()
        self._wire.protocol.reset(self.number, status)
        await self._wire.flush()


class _Wire:
    """The sending side that a connection and its streams share."""

    def __init__(self, raw: RawStream) -> None:
        self.raw = raw
        self.protocol = SpdyProtocol()
        self._turn = asyncio.Lock()

    async def flush(self) -> None:
        """Send what the protocol has to say, in its order."""
        async with self._turn:
            if output := self.protocol.take_output():
                await self.raw.write(output)


class SpdyConnection:
    """Hands what comes to the streams, and waits while one of them does not take it."""

    def __init__(self, raw: RawStream) -> None:
        """Speak SPDY over what was upgraded."""
        self._wire = _Wire(raw)
        self._protocol = self._wire.protocol
        # The handler that has accepted a stream decides how long it is of use.
        self._streams: WeakValueDictionary[int, SpdyStream] = WeakValueDictionary()
        self._opened: asyncio.Queue[SpdyStream] = asyncio.Queue()

    async def run(self) -> None:
        """Take in what comes; return when the client has disconnected or broken the protocol."""
        try:
            while data := await self._wire.raw.read():
                for event in self._protocol.receive(data):
                    await self._handle(event)
                await self._wire.flush()
        except SpdyError as e:
            log.debug("a client violates SPDY: %s", e)
            await self._wire.flush()
        finally:
            for stream in tuple(self._streams.values()):
                stream.inbox.end()

    async def accept(self) -> SpdyStream:
        """Return the next stream that the client opens, which knows then that it is open."""
        stream = await self._opened.get()
        self._protocol.accept(stream.number)
        await self._wire.flush()
        return stream

    async def pulse(self) -> None:
        """Give a sign of life; ConnectionError if the client has disconnected."""
        self._protocol.ping()
        await self._wire.flush()

    async def say_goodbye(self) -> None:
        """Tell the client that all is done, and take no more from it."""
        for stream in tuple(self._streams.values()):
            stream.inbox.drop()
        self._protocol.go_away()
        await self._wire.flush()

    async def _handle(self, event: SpdyEvent) -> None:
        if isinstance(event, StreamOpened):
            opened = SpdyStream(event.stream, dict(event.headers), self._wire)
            self._streams[event.stream] = opened
            self._opened.put_nowait(opened)
            return
        stream = self._streams.get(event.stream)
        if stream is None:
            return
        if isinstance(event, StreamData):
            await stream.inbox.put(event.data)
        else:
            stream.was_reset.set()
        if not isinstance(event, StreamData) or event.is_last:
            stream.inbox.end()
