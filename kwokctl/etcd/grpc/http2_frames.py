"""Encodes and decodes HTTP/2 frames (RFC 9113, section 6); their meaning is in other modules."""

import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE = range(9)
CONTINUATION = 9

END_STREAM, ACK, END_HEADERS, PADDED, PRIORITIZED = 0x1, 0x1, 0x4, 0x8, 0x20

REFUSED_STREAM, CANCEL = 0x7, 0x8

HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS = 0x1, 0x2, 0x3
INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE = 0x4, 0x5

HEAD = struct.Struct(">IBI")
"""Of each frame: length and kind in one word (length << 8 | kind), flags, stream."""
LARGEST_WINDOW = (1 << 31) - 1
DEFAULT_WINDOW = 65_535
DEFAULT_FRAME_SIZE = 16_384

_SETTING = struct.Struct(">HI")
_WORD = struct.Struct(">I")


class PeerError(Exception):
    """The peer broke the protocol; the connection cannot continue."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Build a frame."""
    return HEAD.pack(len(payload) << 8 | kind, flags, stream) + payload


def settings(values: dict[int, int]) -> bytes:
    """Build a frame of settings."""
    return frame(SETTINGS, 0, 0, b"".join(_SETTING.pack(*item) for item in values.items()))


def window_update(stream: int, increment: int) -> bytes:
    """Allow the peer `increment` bytes more."""
    return frame(WINDOW_UPDATE, 0, stream, _WORD.pack(increment))


def rst_stream(stream: int, code: int) -> bytes:
    """End a stream at once."""
    return frame(RST_STREAM, 0, stream, _WORD.pack(code))


OPENING = (
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    # A table of size 0 makes header blocks independent of each other. Answers are read whole, so
    # our windows must be large enough never to delay one.
    + settings({HEADER_TABLE_SIZE: 0, ENABLE_PUSH: 0, INITIAL_WINDOW_SIZE: LARGEST_WINDOW})
    + window_update(0, LARGEST_WINDOW - DEFAULT_WINDOW)
)
"""The preface of a client."""


def read_settings(payload: bytes) -> dict[int, int]:
    """Read settings. Raises PeerError for what RFC 9113, section 6.5, does not allow."""
    if len(payload) % _SETTING.size:
        raise PeerError("settings are truncated")
    found = dict(_SETTING.iter_unpack(payload))
    if found.get(INITIAL_WINDOW_SIZE, 0) > LARGEST_WINDOW:
        raise PeerError("a window is too large")
    if not DEFAULT_FRAME_SIZE <= found.get(MAX_FRAME_SIZE, DEFAULT_FRAME_SIZE) < 1 << 24:
        raise PeerError("a frame size is out of bounds")
    return found


def read_word(payload: bytes, *, exactly: bool = True) -> int:
    """Read the number of 31 bits that a frame begins with, or consists of."""
    if len(payload) < _WORD.size or (exactly and len(payload) > _WORD.size):
        raise PeerError("a frame has a wrong length")
    word: int = _WORD.unpack_from(payload)[0]
    return word & LARGEST_WINDOW


def unpadded(payload: bytes, flags: int) -> bytes:
    """Return what a DATA or HEADERS frame carries, without padding and priority."""
    begin, end = 0, len(payload)
    if flags & PADDED:
        if not payload:
            raise PeerError("a frame's padding is truncated")
        begin, end = 1, end - payload[0]
    if flags & PRIORITIZED:
        begin += 5
    if begin > end:
        raise PeerError("a frame is shorter than its padding")
    return payload[begin:end]
