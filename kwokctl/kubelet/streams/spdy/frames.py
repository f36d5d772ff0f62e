"""SPDY/3 frames: their numbers, and how those that we send are written.

The format is that of https://datatracker.ietf.org/doc/html/draft-mbelshe-httpbis-spdy-00, section 2.
"""

import struct
from enum import IntEnum, IntFlag

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


def syn_stream(stream: int, block: bytes, flags: Flag = Flag.NONE) -> bytes:
    """Open a stream."""
    return _control(Control.SYN_STREAM, _TWO.pack(stream, 0) + b"\0\0" + block, flags)


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
