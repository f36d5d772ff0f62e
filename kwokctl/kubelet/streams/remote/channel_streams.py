"""Carries the streams of a command over WebSocket: each has a channel."""

from kwokctl.kubelet.streams.connections.channels import FORMATS, Channels
from kwokctl.kubelet.streams.connections.websocket_connection import WebSocketConnection
from kwokctl.kubelet.streams.remote.options import StreamOptions
from kwokctl.kubelet.streams.remote.streams import StreamName

PROTOCOLS = tuple(FORMATS)
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
