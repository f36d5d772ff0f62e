"""The requests and answers of a server, and the types of its handlers.

A handler is `async (Request) -> Answer`. One that takes the connection over is
`async (Request, RawStream) -> None`: it writes its own `101 Switching Protocols`, or any other
answer, and the connection ends when it returns. Both are called only for clients that have the
right; `RefusedError`, raised by either before anything was written, becomes the answer, and after
`NoAnswerError` there is none.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol
from urllib.parse import unquote

import msgspec

TEXT = "text/plain; charset=utf-8"


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A whole request."""

    method: str
    path: str
    """Not decoded, so that an escaped slash does not part segments."""
    query: tuple[tuple[str, str], ...] = ()
    """Decoded, in order; what is given more than once is kept."""
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case, in order; what is given more than once is kept."""
    body: bytes = b""
    local_host: str = ""
    """The address of this machine that was dialled: it may say which node is meant."""

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of the path, decoded."""
        return tuple(unquote(part) for part in self.path.strip("/").split("/"))

    def header(self, name: str) -> str:
        """Return the first header called `name` (lower case), or an empty text."""
        return next((value for key, value in self.headers if key == name), "")

    def all_headers(self, name: str) -> tuple[str, ...]:
        """Return every header called `name` (lower case)."""
        return tuple(value for key, value in self.headers if key == name)

    def parameter(self, name: str) -> str:
        """Return the first parameter called `name`, or an empty text."""
        return next((value for key, value in self.query if key == name), "")

    def parameters(self, name: str) -> tuple[str, ...]:
        """Return every parameter called `name`."""
        return tuple(value for key, value in self.query if key == name)


class Answer(msgspec.Struct, frozen=True):
    """An answer, whole or as a stream of pieces that ends with the connection's request."""

    status: int = 200
    body: bytes | AsyncIterator[bytes] = b""
    """A stream is written as it comes; it is closed (`aclose`) when the client goes."""
    content_type: str = TEXT
    headers: tuple[tuple[str, str], ...] = ()


class RawStream(Protocol):
    """The connection of a request that is upgraded, without TLS."""

    async def read(self) -> bytes:
        """Return the received bytes, at least one byte; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Write all of it; waits while the client does not take what was written before.

        Raises ConnectionError when the client is gone.
        """
        ...

    async def close(self) -> None:
        """Close the connection; what was written is sent before."""
        ...


class RefusedError(Exception):
    """A request that is answered with a status and a sentence, and nothing else."""

    def __init__(self, status: int, sentence: str) -> None:
        """Answer `sentence` as plain text."""
        super().__init__(sentence)
        self.status = status


class NoAnswerError(ConnectionError):
    """A request that is not answered, as by a machine that is gone: its connection ends."""


Handler = Callable[[Request], Awaitable[Answer]]
UpgradeHandler = Callable[[Request, RawStream], Awaitable[None]]
