"""Sends frames within the flow-control windows of HTTP/2, in order, with few writes."""

import asyncio
from collections.abc import Callable, Iterable

from kwokctl.etcd.grpc.call import PREFIX, RpcCall
from kwokctl.etcd.grpc.http2_frames import (
    DATA,
    DEFAULT_FRAME_SIZE,
    DEFAULT_WINDOW,
    END_STREAM,
    HEAD,
    INITIAL_WINDOW_SIZE,
    LARGEST_WINDOW,
    MAX_FRAME_SIZE,
    PeerError,
)


class _Held:
    """A message that the server's windows have not let through in full."""

    __slots__ = ("stream", "unsent", "window")

    def __init__(self, stream: int, unsent: memoryview, window: int) -> None:
        self.stream = stream
        self.unsent = unsent
        self.window = window


class Sender:
    """Sends calls as far as the server's windows let them through, and keeps the rest.

    What one turn of the event loop brings is written at once.
    """

    __slots__ = ("_call_soon", "_frame_size", "_held", "_initial", "_out", "_window", "_write")

    def __init__(self, loop: asyncio.AbstractEventLoop, write: Callable[[bytes], None]) -> None:
        """Begin with the windows that every HTTP/2 connection begins with."""
        self._call_soon = loop.call_soon
        self._write = write
        self._out: list[bytes] = []
        self._held: dict[int, _Held] = {}
        """By stream, the oldest first."""
        self._window = DEFAULT_WINDOW
        """Of the connection."""
        self._initial = DEFAULT_WINDOW
        """Of a new stream."""
        self._frame_size = DEFAULT_FRAME_SIZE

    def put(self, data: bytes) -> None:
        """Send frames that no window bounds."""
        if not self._out:
            self._call_soon(self._flush)
        self._out.append(data)

    def open(self, call: RpcCall) -> None:
        """Send a call on its stream, or as much of it as may go now."""
        message = call.message
        size = len(message) + PREFIX.size
        if size <= self._window and size <= self._initial and size <= self._frame_size:
            self._window -= size
            self.put(call.opening.whole(call.stream, len(message)))
            self._out.append(message)
            return
        self.put(call.opening.headers(call.stream))
        unsent = memoryview(PREFIX.pack(0, len(message)) + message)
        held = self._held[call.stream] = _Held(call.stream, unsent, self._initial)
        # The others have gone as far as they may.
        self._send_of([held])

    def forget(self, stream: int) -> bool:
        """Send no more on a stream; return whether anything was left."""
        return self._held.pop(stream, None) is not None

    def adjust(self, settings: dict[int, int]) -> None:
        """Apply the server's settings. A new initial window changes those of open streams, too."""
        self._frame_size = settings.get(MAX_FRAME_SIZE, self._frame_size)
        initial = settings.get(INITIAL_WINDOW_SIZE, self._initial)
        for held in self._held.values():
            held.window = _bounded(held.window + initial - self._initial)
        self._initial = initial
        self._send_of(self._held.values())

    def widen(self, stream: int, increment: int) -> None:
        """Enlarge the window of a stream, or (0) of the connection."""
        if increment == 0:
            raise PeerError("a window grows by zero bytes")
        if stream == 0:
            self._window = _bounded(self._window + increment)
            self._send_of(self._held.values())
        elif (held := self._held.get(stream)) is not None:
            held.window = _bounded(held.window + increment)
            self._send_of([held])

    def _send_of(self, messages: Iterable[_Held]) -> None:
        """Send what may go of these, in order."""
        sent = []
        for held in messages:
            if self._window <= 0:
                break
            self._send_more(held)
            if not held.unsent:
                sent.append(held.stream)
        for stream in sent:
            del self._held[stream]

    def _send_more(self, held: _Held) -> None:
        """Send what the windows let through of one message."""
        unsent = held.unsent
        room = min(self._window, held.window, len(unsent))
        while room > 0:
            size = min(room, self._frame_size)
            flags = END_STREAM if size == len(unsent) else 0
            self.put(HEAD.pack(size << 8 | DATA, flags, held.stream) + unsent[:size])
            unsent = unsent[size:]
            room -= size
            self._window -= size
            held.window -= size
        held.unsent = unsent

    def _flush(self) -> None:
        out, self._out = self._out, []
        self._write(b"".join(out))


def _bounded(window: int) -> int:
    if window > LARGEST_WINDOW:
        raise PeerError("a window has grown too large")
    return window
