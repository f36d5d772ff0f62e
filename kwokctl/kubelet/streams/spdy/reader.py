"""Takes frames out of bytes that come in pieces of any size."""

from collections.abc import Iterator

import msgspec

from kwokctl.kubelet.streams.spdy.errors import SpdyError
from kwokctl.kubelet.streams.spdy.frames import CONTROL, HEAD_SIZE, VERSION, Control, Flag

_LONGEST_CONTROL = 64 * 1024
_KNOWN = frozenset(Control)


class ControlFrame(msgspec.Struct, frozen=True, gc=False):
    """A whole control frame."""

    kind: int
    flags: int
    payload: bytes


class DataPiece(msgspec.Struct, frozen=True, gc=False):
    """A part of a data frame as it comes: a whole frame may be too large for memory."""

    stream: int
    data: bytes
    is_last: bool
    """Whether the stream ends with it."""


class FrameReader:
    """Splits what one side sends; keeps at most one control frame."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._data_left = 0
        self._data_stream = 0
        self._data_ends = False

    def receive(self, data: bytes) -> Iterator[ControlFrame | DataPiece]:
        """Return the frames that `data` completes, and the pieces of data in it.

        Raises SpdyError where a frame is malformed; there is nothing to be read after that.
        """
        self._buffer += data
        while (found := self._next()) is not None:
            if isinstance(found, DataPiece) or found.kind in _KNOWN:
                yield found

    def _next(self) -> ControlFrame | DataPiece | None:
        if self._data_left:
            return self._piece() if self._buffer else None
        if len(self._buffer) < HEAD_SIZE:
            return None
        first = int.from_bytes(self._buffer[:4], "big")
        flags, length = self._buffer[4], int.from_bytes(self._buffer[5:8], "big")
        if first & CONTROL:
            return self._control(first, flags, length)
        return self._begin_data(first, flags, length)

    def _begin_data(self, stream: int, flags: int, length: int) -> DataPiece | None:
        if not stream:
            raise SpdyError("data without a stream")
        del self._buffer[:HEAD_SIZE]
        self._data_left, self._data_stream = length, stream
        self._data_ends = bool(flags & Flag.FIN)
        if length and not self._buffer:
            return None
        return self._piece()

    def _piece(self) -> DataPiece:
        data = bytes(self._buffer[: self._data_left])
        del self._buffer[: len(data)]
        self._data_left -= len(data)
        return DataPiece(self._data_stream, data, self._data_ends and not self._data_left)

    def _control(self, first: int, flags: int, length: int) -> ControlFrame | None:
        version, kind = first >> 16 & 0x7FFF, first & 0xFFFF
        if version != VERSION:
            raise SpdyError(f"the version is {version}, not {VERSION}")
        if length > _LONGEST_CONTROL:
            raise SpdyError("a control frame is too long")
        end = HEAD_SIZE + length
        if len(self._buffer) < end:
            return None
        payload = bytes(self._buffer[HEAD_SIZE:end])
        del self._buffer[:end]
        return ControlFrame(kind, flags, payload)
