"""The server's side of a SPDY connection, without input and output.

Bytes that came are given to `receive`, which returns what they mean; what is to be sent is taken with
`take_output`. There is no flow control per stream: the API server and its clients know none, so that
a slow reader holds up the whole connection.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from kwokctl.kubelet.streams.spdy import spdy_frames
from kwokctl.kubelet.streams.spdy.header_blocks import HeaderPacker, Headers, HeaderUnpacker
from kwokctl.kubelet.streams.spdy.spdy_frames import (
    Control,
    ControlFrame,
    DataPiece,
    Flag,
    FrameReader,
    GoAwayStatus,
    ResetStatus,
    SpdyError,
)


class StreamOpened(msgspec.Struct, frozen=True, gc=False):
    """A stream was opened."""

    stream: int
    headers: Headers


class StreamData(msgspec.Struct, frozen=True, gc=False):
    """Data of a stream came; none, perhaps, if it is the last."""

    stream: int
    data: bytes
    is_last: bool


class StreamReset(msgspec.Struct, frozen=True, gc=False):
    """A stream was ended at once, both ways."""

    stream: int


SpdyEvent = StreamOpened | StreamData | StreamReset

_MOST_STREAMS = 1000
"""Open at a time on one connection; a forwarded connection needs two."""
_LARGEST_PING = 0x7FFF_FFFE


class _Stream:
    """The open sides of a stream."""

    __slots__ = ("takes_input", "takes_output")

    def __init__(self, flags: int) -> None:
        self.takes_input = not flags & Flag.FIN
        self.takes_output = not flags & Flag.UNIDIRECTIONAL


class SpdyProtocol:
    """The state of a connection whose streams the client opens."""

    def __init__(self) -> None:
        self._reader, self._packer, self._unpacker = FrameReader(), HeaderPacker(), HeaderUnpacker()
        self._streams: dict[int, _Stream] = {}
        self._last_stream = 0
        self._last_ping = 0
        self._output = bytearray()
        self._handlers: Mapping[int, Callable[[ControlFrame], Iterable[SpdyEvent]]] = {
            Control.SYN_STREAM: self._opened,
            Control.SYN_REPLY: self._replied,
            Control.RST_STREAM: self._reset,
            Control.SETTINGS: self._settings,
            Control.PING: self._pinged,
            Control.GOAWAY: self._sized,
            Control.HEADERS: self._more_headers,
            Control.WINDOW_UPDATE: self._sized,
        }

    def receive(self, data: bytes) -> Iterator[SpdyEvent]:
        """Return what the client has done.

        Raises SpdyError if it broke the protocol; what is to be sent then ends with saying so.
        """
        try:
            for frame in self._reader.receive(data):
                if isinstance(frame, DataPiece):
                    yield from self._data(frame)
                else:
                    yield from self._handlers[frame.kind](frame)
        except SpdyError:
            self._output += spdy_frames.go_away(self._last_stream, GoAwayStatus.PROTOCOL_ERROR)
            raise

    def take_output(self) -> bytes:
        """Return what is to be sent now."""
        output, self._output = bytes(self._output), bytearray()
        return output

    def accept(self, stream: int) -> None:
        """Tell the client that its stream is open."""
        if stream in self._streams:
            self._output += spdy_frames.syn_reply(stream, self._packer.pack(()))

    def send(self, stream: int, data: bytes, *, is_last: bool = False) -> None:
        """Send data, unless our side of the stream is closed."""
        state = self._streams.get(stream)
        if state is None or not state.takes_output:
            return
        begin = 0
        while len(data) - begin > spdy_frames.LONGEST_DATA:
            piece = data[begin : begin + spdy_frames.LONGEST_DATA]
            self._output += spdy_frames.data_frame(stream, piece)
            begin += len(piece)
        self._output += spdy_frames.data_frame(stream, data[begin:], is_last=is_last)
        if is_last:
            state.takes_output = False
            self._forget_if_over(stream, state)

    def reset(self, stream: int, status: ResetStatus) -> None:
        """End a stream at once, both ways."""
        if self._streams.pop(stream, None) is not None:
            self._output += spdy_frames.rst_stream(stream, status)

    def ping(self) -> None:
        """Ask the client for a sign of life; nothing tells that it has answered."""
        self._last_ping = self._last_ping % _LARGEST_PING + 2
        self._output += spdy_frames.ping(self._last_ping)

    def go_away(self) -> None:
        """Tell the client that all is done."""
        self._output += spdy_frames.go_away(self._last_stream, GoAwayStatus.OK)

    def _data(self, piece: DataPiece) -> Iterator[SpdyEvent]:
        state = self._streams.get(piece.stream)
        if state is None:
            # What was sent before our reset arrived is not answered.
            if piece.stream > self._last_stream:
                raise SpdyError("data for a stream that was never opened")
        elif not state.takes_input:
            self.reset(piece.stream, ResetStatus.STREAM_ALREADY_CLOSED)
            yield StreamReset(piece.stream)
        else:
            if piece.is_last:
                state.takes_input = False
                self._forget_if_over(piece.stream, state)
            yield StreamData(piece.stream, piece.data, piece.is_last)

    def _opened(self, frame: ControlFrame) -> Iterator[SpdyEvent]:
        stream = _stream(frame, at_least=10)
        headers = self._unpacker.unpack(frame.payload[10:])
        if stream % 2 == 0 or stream <= self._last_stream:
            raise SpdyError(f"a stream cannot have the number {stream} now")
        self._last_stream = stream
        if len(self._streams) >= _MOST_STREAMS:
            self._output += spdy_frames.rst_stream(stream, ResetStatus.REFUSED_STREAM)
            return
        state = self._streams[stream] = _Stream(frame.flags)
        yield StreamOpened(stream, headers)
        if not state.takes_input:
            self._forget_if_over(stream, state)
            yield StreamData(stream, b"", is_last=True)

    def _replied(self, frame: ControlFrame) -> tuple[SpdyEvent, ...]:
        raise SpdyError("a stream was accepted that we have not opened")

    def _reset(self, frame: ControlFrame) -> tuple[SpdyEvent, ...]:
        stream = _stream(frame, at_least=8, at_most=8)
        is_open = self._streams.pop(stream, None) is not None
        return (StreamReset(stream),) if is_open else ()

    def _settings(self, frame: ControlFrame) -> tuple[SpdyEvent, ...]:
        count = int.from_bytes(frame.payload[:4], "big")
        if len(frame.payload) != 4 + 8 * count:
            raise SpdyError("settings are truncated")
        return ()

    def _pinged(self, frame: ControlFrame) -> tuple[SpdyEvent, ...]:
        number = int.from_bytes(frame.payload, "big")
        if len(frame.payload) != 4 or not number:
            raise SpdyError("a ping is malformed")
        if number % 2:
            self._output += spdy_frames.ping(number)
        return ()

    def _more_headers(self, frame: ControlFrame) -> Iterator[SpdyEvent]:
        stream = _stream(frame, at_least=4)
        # They mean nothing to us, but what follows is compressed with their help.
        self._unpacker.unpack(frame.payload[4:])
        if frame.flags & Flag.FIN:
            yield from self._data(DataPiece(stream, b"", is_last=True))

    def _sized(self, frame: ControlFrame) -> tuple[SpdyEvent, ...]:
        if len(frame.payload) != 8:
            raise SpdyError("a control frame has a wrong length")
        return ()

    def _forget_if_over(self, stream: int, state: _Stream) -> None:
        if not state.takes_input and not state.takes_output:
            self._streams.pop(stream, None)


def _stream(frame: ControlFrame, *, at_least: int, at_most: int | None = None) -> int:
    """Return the number of the stream that a control frame begins with."""
    length = len(frame.payload)
    if length < at_least or (at_most is not None and length > at_most):
        raise SpdyError("a control frame has a wrong length")
    stream = int.from_bytes(frame.payload[:4], "big") & spdy_frames.STREAM
    if not stream:
        raise SpdyError("a control frame has no stream")
    return stream
