"""SPDY/3 frames: writes those to be sent, and takes received ones out of bytes.

The format is that of https://datatracker.ietf.org/doc/html/draft-mbelshe-httpbis-spdy-00, section 2.
Received bytes come in pieces of any size.
"""

import struct
from collections.abc import Iterator
from enum import IntEnum, IntFlag

import msgspec

VERSION = 3
HEAD_SIZE = 8
CONTROL = 0x8000_0000
STREAM = 0x7FFF_FFFF
"""The bits of a number of a stream."""
LONGEST_DATA = (1 << 24) - 1

_HEAD = struct.Struct(">II")
_TWO = struct.Struct(">II")
_ONE = struct.Struct(">I")


class Control(IntEnum):
    """Kinds of control frames."""

    SYN_STREAM = 1
    SYN_REPLY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PING = 6
    GOAWAY = 7
    HEADERS = 8
    WINDOW_UPDATE = 9


class Flag(IntFlag):
    """The flags of a frame."""

    NONE = 0
    FIN = 1
    UNIDIRECTIONAL = 2


class ResetStatus(IntEnum):
    """Why a stream is ended."""

    PROTOCOL_ERROR = 1
    INVALID_STREAM = 2
    REFUSED_STREAM = 3
    UNSUPPORTED_VERSION = 4
    CANCEL = 5
    INTERNAL_ERROR = 6
    STREAM_IN_USE = 8
    STREAM_ALREADY_CLOSED = 9


class GoAwayStatus(IntEnum):
    """Why a connection is ended."""

    OK = 0
    PROTOCOL_ERROR = 1


def data_frame(stream: int, data: bytes, *, is_last: bool = False) -> bytes:
    """Build a frame of at most `LONGEST_DATA` bytes of a stream."""
    return _HEAD.pack(stream, _sized(len(data), Flag.FIN if is_last else Flag.NONE)) + data


def syn_reply(stream: int, block: bytes) -> bytes:
    """Accept a stream."""
    return _control(Control.SYN_REPLY, _ONE.pack(stream) + block)


def rst_stream(stream: int, status: ResetStatus) -> bytes:
    """End a stream at once."""
    return _control(Control.RST_STREAM, _TWO.pack(stream, status))


def ping(number: int) -> bytes:
    """Ask for an answer, or answer."""
    return _control(Control.PING, _ONE.pack(number))


def go_away(last_stream: int, status: GoAwayStatus) -> bytes:
    """Say that no stream after `last_stream` was or will be looked at."""
    return _control(Control.GOAWAY, _TWO.pack(last_stream, status))


def _control(kind: Control, payload: bytes, flags: Flag = Flag.NONE) -> bytes:
    word = CONTROL | VERSION << 16 | kind
    return _HEAD.pack(word, _sized(len(payload), flags)) + payload


def _sized(length: int, flags: Flag) -> int:
    return flags << 24 | length


class SpdyError(Exception):
    """The other side broke the protocol; the connection cannot go on."""


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
