"""Represents calls under way: their headers, what is answered, and their deadlines."""

import asyncio
import struct
from collections import deque
from collections.abc import Callable
from typing import ClassVar
from urllib.parse import unquote

from kwokctl.etcd.grpc import hpack
from kwokctl.etcd.grpc.http2_frames import DATA, END_HEADERS, END_STREAM, HEAD, HEADERS, PeerError

PREFIX = struct.Struct(">BI")
"""Stands before each message of gRPC: whether it is compressed, and its length."""
_TOKEN = b"token"
"""The header with what etcd's Authenticate has returned."""


class Opening:
    """The bytes that open a stream for one method: equal each time except for the stream's number."""

    __slots__ = ("_block", "_first", "_pack_whole")

    def __init__(self, path: str, authority: str, *, is_secure: bool, token: str = "") -> None:
        """Encode the headers of a request; `token` says which user of etcd makes it."""
        self._block = hpack.encode(
            [
                (b":method", b"POST"),
                (b":scheme", b"https" if is_secure else b"http"),
                (b":path", path.encode()),
                (b":authority", authority.encode()),
                (b"content-type", b"application/grpc"),
                (b"te", b"trailers"),
                (b"user-agent", b"kwokctl"),
                *([(_TOKEN, token.encode())] if token else []),
            ]
        )
        self._first = len(self._block) << 8 | HEADERS
        # Both frames and the prefix in one go: this is what nearly all calls use.
        self._pack_whole = struct.Struct(f">IBI{len(self._block)}sIBIBI").pack

    def headers(self, stream: int) -> bytes:
        """Return the frame of headers alone."""
        return HEAD.pack(self._first, END_HEADERS, stream) + self._block

    def whole(self, stream: int, length: int) -> bytes:
        """Return the prefix of a message of this length that fits into one frame."""
        return self._pack_whole(
            self._first, END_HEADERS, stream, self._block,
            (length + PREFIX.size) << 8 | DATA, END_STREAM, stream, 0, length,
        )  # fmt: skip


class RpcCall:
    """One call, from the moment at which it is requested until its answer is there."""

    __slots__ = ("answer", "deadline", "heard", "message", "opening", "pieces", "stream")

    def __init__(
        self, opening: Opening, message: bytes, deadline: float, answer: asyncio.Future[bytes]
    ) -> None:
        """Keep what is to be sent, and where the answer goes; `deadline` is by the loop's clock."""
        self.opening = opening
        self.message = message
        self.deadline = deadline
        self.answer = answer
        self.stream = 0
        """0 until it is opened."""
        self.pieces: list[bytes] = []
        """Of the answer."""
        self.heard = 0
        """The number of receptions of the connection when the call began."""

    is_stream: ClassVar[bool] = False
    """Whether any number of messages may come as the answer."""

    def take(self, payload: bytes) -> bool:
        """Keep a piece of the answer; return whether it can be part of one."""
        self.pieces.append(payload)
        return True

    def fail(self, error: Exception) -> None:
        """Give the error to the caller, unless it no longer waits."""
        if not self.answer.done():
            self.answer.set_exception(error)

    def succeed(self) -> bool:
        """Give the answer to the caller; return whether it is one whole message, as it must be."""
        pieces = self.pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        if len(body) < PREFIX.size:
            return False
        compressed, length = PREFIX.unpack_from(body)
        if compressed or length != len(body) - PREFIX.size:
            return False
        if not self.answer.done():
            self.answer.set_result(body[PREFIX.size :])
        return True


class StreamCall(RpcCall):
    """A call whose answer is any number of messages; `answer` is done when no more will come."""

    __slots__ = ("_arrived", "_messages", "_rest")

    is_stream = True

    def __init__(self, opening: Opening, message: bytes, answer: asyncio.Future[bytes]) -> None:
        """Keep what is to be sent; there is no deadline."""
        super().__init__(opening, message, float("inf"), answer)
        self._rest = b""
        self._messages: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        answer.add_done_callback(self._on_end)

    def take(self, payload: bytes) -> bool:
        """Keep the messages that are whole now; a compressed one cannot be read."""
        data = self._rest + payload
        at = 0
        while len(data) - at >= PREFIX.size:
            compressed, length = PREFIX.unpack_from(data, at)
            if compressed:
                return False
            end = at + PREFIX.size + length
            if end > len(data):
                break
            self._messages.append(data[at + PREFIX.size : end])
            at = end
        self._rest = data[at:]
        if self._messages:
            self._arrived.set()
        return True

    def succeed(self) -> bool:
        """End the answer; return whether its last message is whole."""
        if self._rest:
            return False
        if not self.answer.done():
            self.answer.set_result(b"")
        return True

    def _on_end(self, answer: asyncio.Future[bytes]) -> None:
        if not answer.cancelled():
            answer.exception()  # which a reader that has stopped will not ask for
        self._arrived.set()

    async def next(self) -> bytes | None:
        """Wait for the next message; None at the end, or the error that ended the call."""
        while not self._messages:
            if self.answer.done():
                self.answer.result()
                return None
            self._arrived.clear()
            await self._arrived.wait()
        return self._messages.popleft()


class RpcOutcome:
    """The decoded headers of a call."""

    __slots__ = ("code", "http_status", "text")

    def __init__(self, block: bytes) -> None:
        """Decode a block. Raises PeerError when it cannot be read."""
        headers = dict(hpack.decode(block))
        try:
            self.http_status = int(headers.get(b":status", b"200"))
            self.code = int(headers.get(b"grpc-status", b"-1"))
            """The gRPC status; -1 as long as it has not been received."""
        except ValueError:
            raise PeerError("a status is not a number") from None
        self.text = unquote(headers.get(b"grpc-message", b"").decode("latin-1"))
        """The error message, which is percent-encoded on the wire."""


class Deadlines:
    """Calls back at the earliest deadline, often needlessly: most calls end long before theirs.

    The callback must add the remaining deadlines again.
    """

    __slots__ = ("_earliest", "_loop", "_passed", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, passed: Callable[[], None]) -> None:
        self._loop = loop
        self._passed = passed
        self._earliest = float("inf")
        self._timer: asyncio.TimerHandle | None = None

    def add(self, deadline: float) -> None:
        """Call back at this time of the loop's clock, unless an earlier one is waited for."""
        if deadline < self._earliest:
            self.clear()
            self._earliest = deadline
            self._timer = self._loop.call_at(deadline, self._on_time)

    def clear(self) -> None:
        """Forget all deadlines."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._earliest = float("inf")

    def _on_time(self) -> None:
        self.clear()
        self._passed()
