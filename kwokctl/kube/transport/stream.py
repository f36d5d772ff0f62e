"""Connections for requests whose answers are read as streams: watches and logs."""

import asyncio
import socket as sockets
from contextlib import suppress

from kwokctl.errors import ApiError
from kwokctl.kube.transport.wire import BY_SERVER, TIMEOUT, Wire, lost

_PIECE = 1 << 18
_HIGH_WATER = 1 << 22
_LOW_WATER = 1 << 20
_MOST_KEPT = 4


class Stream(Wire):
    """Carries a request whose answer is read while it comes; the next request may follow when it ends.

    It reads ahead a few megabytes; then the server has to wait.
    """

    __slots__ = (
        "_begun", "_chunks", "_ended", "_error", "_keeps_alive", "_news", "_size", "_timer",
        "is_paused",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._chunks: list[bytes] = []
        self._size = 0
        self._begun = self._ended = self._keeps_alive = False
        self.is_paused = False
        """Whether the server has to wait, because the reader lags."""
        self._error: ApiError | None = None
        self._news: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_reusable(self) -> bool:
        """Whether another request may follow: the answer came to its end, and was read."""
        return self._keeps_alive and not self._chunks and self._error is None and self.is_open

    @property
    def status(self) -> int:
        """The HTTP status, once `begin` has returned."""
        return int(self._parser.get_status_code())

    async def begin(self, request: bytes) -> None:
        """Send the request and return when the headers of its answer have come."""
        if self._transport is None:
            raise lost(BY_SERVER)
        self._headers = []
        self._begun = self._ended = self._keeps_alive = self._in_body = self.heard = False
        self._transport.write(request)
        while not self._begun:
            await self._wait()

    def bound_silence(self, seconds: float | None) -> None:
        """End the stream with an error when for so long, or up to twice that, nothing comes."""
        if seconds is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self._check_silence, seconds)

    async def read(self) -> bytes:
        """Return the data received since the last call, at least a byte; empty at the end."""
        while not self._chunks:
            if self._ended:
                return b""
            await self._wait()
        return self._take()

    async def gather(self, seconds: float) -> None:
        """Let what comes for a while gather in the kernel, which does not wake us for each piece."""
        if seconds <= 0 or self._transport is None:
            return
        socket = self._transport.get_extra_info("socket")
        self._wake_for(socket, _HIGH_WATER)
        try:
            await asyncio.sleep(seconds)
        finally:
            self._wake_for(socket, 1)

    def __aiter__(self) -> "Stream":
        """Iterate over what comes, in pieces of any size."""
        return self

    async def __anext__(self) -> bytes:
        if piece := await self.read():
            return piece
        raise StopAsyncIteration

    def on_headers_complete(self) -> None:
        """Let the reader begin."""
        if self._parser.get_status_code() < 200:
            self._headers = []
            return
        self._in_body = self._begun = True
        self._wake()

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body for the reader."""
        self._chunks.append(data)
        self._size += len(data)
        if self._size > _HIGH_WATER and not self.is_paused and self._transport is not None:
            self.is_paused = True
            self._transport.pause_reading()
        self._wake()

    def on_message_complete(self) -> None:
        """Let the reader come to the end."""
        if self._begun:
            self._ended = True
            self._keeps_alive = self._parser.should_keep_alive()
            self._wake()

    def fail(self, error: ApiError) -> None:
        """Give up the connection; the reader learns it after all that has come before."""
        self.close()
        if not self._ended and self._error is None:
            self._error = error
            self._wake()

    def rest(self) -> None:
        """Bound no silence any more: nothing is requested."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        """Drop the connection at once."""
        self.rest()
        super().close()

    def _wake_for(self, socket: sockets.socket, size: int) -> None:
        """Have the kernel report received data only from that many bytes on (socket(7))."""
        if self._transport is not None:
            with suppress(OSError):
                socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVLOWAT, size)

    def _check_silence(self, seconds: float) -> None:
        if not self.heard and not self.is_paused:
            why = f"the API server has sent nothing for {seconds:g} s"
            self.fail(ApiError(why, status=0, reason=TIMEOUT))
            return
        self.heard = False
        self.bound_silence(seconds)

    def _wake(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _wait(self) -> None:
        if self._error is not None:
            raise self._error
        self._news = asyncio.get_running_loop().create_future()
        try:
            await self._news
        finally:
            self._news = None

    def _take(self) -> bytes:
        if self._size <= _PIECE:
            taken, self._chunks = self._chunks, []
        else:
            count = size = 0
            while size < _PIECE and count < len(self._chunks):
                size += len(self._chunks[count])
                count += 1
            taken, self._chunks = self._chunks[:count], self._chunks[count:]
        piece = taken[0] if len(taken) == 1 else b"".join(taken)
        self._size -= len(piece)
        if self.is_paused and self._size < _LOW_WATER and self._transport is not None:
            self.is_paused = False
            self._transport.resume_reading()
        return piece


class Lines:
    """Takes pieces of any size and gives whole lines; a line may span many pieces."""

    __slots__ = ("_rest", "any_came")

    def __init__(self) -> None:
        """Begin at the start of a line."""
        self._rest: list[bytes] = []
        self.any_came = False
        """Whether there was a whole line."""

    def feed(self, piece: bytes) -> list[bytes]:
        """Return the lines that end in this piece, without their ends; empty ones are left out."""
        end = piece.rfind(b"\n")
        if end < 0:
            self._rest.append(piece)
            return []
        whole = b"".join((*self._rest, piece[:end])) if self._rest else piece[:end]
        self._rest = [piece[end + 1 :]] if end + 1 < len(piece) else []
        self.any_came = True
        return [line for line in whole.split(b"\n") if line]


class KeptStreams:
    """A few streams, the one that was kept last first."""

    def __init__(self, *, longest: float) -> None:
        """Keep each for `longest` seconds."""
        self._longest = longest
        self._streams: list[tuple[Stream, float]] = []

    def keep(self, stream: Stream, now: float) -> None:
        """Keep a stream for another request, or close it if it cannot carry one."""
        if not stream.is_reusable or len(self._streams) == _MOST_KEPT:
            stream.close()
            return
        stream.rest()
        self._streams.append((stream, now))

    def take(self, now: float) -> Stream | None:
        """Hand out a stream that is still open; None if there is none."""
        while self._streams:
            stream, since = self._streams.pop()
            if stream.is_open and now - since < self._longest:
                return stream
            stream.close()
        return None

    def clear(self) -> list[Stream]:
        """Hand out all of them."""
        streams, self._streams = self._streams, []
        return [stream for stream, _ in streams]
