"""The streams between a client and a command, however they are carried."""

from enum import Enum
from typing import Protocol


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
