"""Parses what a connection receives: bytes in pieces of any size, turned into events."""

from typing import Protocol

from kwokctl.etcd.grpc import http2_frames
from kwokctl.etcd.grpc.http2_frames import (
    CONTINUATION,
    DATA,
    DEFAULT_FRAME_SIZE,
    END_HEADERS,
    END_STREAM,
    HEAD,
    HEADERS,
    LARGEST_WINDOW,
    PADDED,
    PRIORITIZED,
    SETTINGS,
    PeerError,
    read_word,
    unpadded,
)

_LARGEST_WORD = DEFAULT_FRAME_SIZE << 8 | 0xFF
_LONGEST_BLOCK = 1 << 16


class Events(Protocol):
    """Handles the events that the server sends."""

    def on_data(self, stream: int, payload: bytes, size: int, *, ends: bool) -> None:
        """A piece of an answer has come; with its padding it took `size` bytes of the windows."""

    def on_headers(self, stream: int, block: bytes, *, ends: bool) -> None:
        """A whole block of headers has come."""

    def on_reset(self, stream: int, code: int) -> None:
        """A stream is over."""

    def on_settings(self, settings: dict[int, int]) -> None:
        """The server has sent settings."""

    def on_ping(self, payload: bytes) -> None:
        """The server has sent a ping, to be answered with the same bytes."""

    def on_goaway(self, last: int) -> None:
        """The server takes no more calls, and has not looked at those after stream `last`."""

    def on_window(self, stream: int, increment: int) -> None:
        """More may be sent, on a stream or (0) in all."""


class Receiver:
    """Takes bytes apart. Whatever a server must not send raises PeerError."""

    __slots__ = ("_begun", "_events", "_greeted", "_rest")

    def __init__(self, events: Events) -> None:
        self._events = events
        self._rest = b""
        self._greeted = False
        self._begun: tuple[int, bool, bytes] | None = None
        """A block of headers to be continued: its stream, whether that ends, and its bytes."""

    def feed(self, data: bytes) -> None:
        """Take the received bytes; an incomplete frame is kept."""
        if self._rest:
            data = self._rest + data
        at, end = 0, len(data)
        unpack, take = HEAD.unpack_from, self._take
        while end - at >= HEAD.size:
            word, flags, stream = unpack(data, at)
            if word > _LARGEST_WORD or not self._greeted:
                self._check_head(word)
            begin = at + HEAD.size
            stop = begin + (word >> 8)
            if stop > end:
                break
            take(word & 0xFF, flags, stream & LARGEST_WINDOW, data[begin:stop])
            at = stop
        self._rest = data[at:]

    def _check_head(self, word: int) -> None:
        if not self._greeted and word & 0xFF != SETTINGS:
            raise PeerError("it does not speak HTTP/2")
        if word > _LARGEST_WORD:
            raise PeerError("a frame is larger than agreed")

    def _take(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        if self._begun is not None:
            self._continue(kind, flags, stream, payload)
        elif kind == HEADERS:
            if flags & (PADDED | PRIORITIZED):
                payload = unpadded(payload, flags)
            if flags & END_HEADERS:
                self._events.on_headers(stream, payload, ends=flags & END_STREAM != 0)
            else:
                self._begun = stream, flags & END_STREAM != 0, payload
        elif kind == DATA:
            size = len(payload)
            if flags & PADDED:
                payload = unpadded(payload, PADDED)
            self._events.on_data(stream, payload, size, ends=flags & END_STREAM != 0)
        else:
            self._control(kind, flags, stream, payload)

    def _continue(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        """Take the next frame of a block of headers; nothing else may come between."""
        assert self._begun is not None
        expected, ends, begun = self._begun
        if kind != CONTINUATION or stream != expected:
            raise PeerError("a header block has no continuation")
        block = begun + payload
        if len(block) > _LONGEST_BLOCK:
            raise PeerError("a header block is too long")
        if not flags & END_HEADERS:
            self._begun = stream, ends, block
            return
        self._begun = None
        self._events.on_headers(stream, block, ends=ends)

    def _control(self, kind: int, flags: int, stream: int, payload: bytes) -> None:
        """Handle a frame that is not part of an answer. Unknown kinds are ignored."""
        match kind:
            case http2_frames.WINDOW_UPDATE:
                self._events.on_window(stream, read_word(payload))
            case http2_frames.RST_STREAM:
                self._events.on_reset(stream, read_word(payload))
            case http2_frames.SETTINGS | http2_frames.PING | http2_frames.GOAWAY if stream:
                raise PeerError("a frame for the whole connection names a stream")
            case http2_frames.SETTINGS | http2_frames.PING if flags & http2_frames.ACK:
                pass
            case http2_frames.PING:
                if len(payload) != 8:
                    raise PeerError("a ping has a wrong length")
                self._events.on_ping(payload)
            case http2_frames.SETTINGS:
                self._greeted = True
                self._events.on_settings(http2_frames.read_settings(payload))
            case http2_frames.GOAWAY:
                self._events.on_goaway(read_word(payload, exactly=False))
            case http2_frames.PUSH_PROMISE | http2_frames.CONTINUATION:
                raise PeerError("an unexpected frame was received")
            case _:
                pass
