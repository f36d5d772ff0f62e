"""A client of SPDY that writes its frames byte by byte, so that it can also write wrong ones."""

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from kwokctl.kubelet.streams.spdy.header_blocks import DICTIONARY

FIN, UNIDIRECTIONAL = 1, 2


@dataclass(frozen=True)
class Frame:
    """A frame that the server has sent: a control frame has a kind, a data frame a stream."""

    kind: int | None
    stream: int
    flags: int
    payload: bytes


class SpdyClient:
    """Writes what a client sends and reads what the server answers."""

    def __init__(self) -> None:
        self._packer = zlib.compressobj(zdict=DICTIONARY)
        self._unpacker = zlib.decompressobj(zdict=DICTIONARY)
        self._buffer = b""

    def block(self, headers: Mapping[str, str]) -> bytes:
        words = [word.encode() for pair in headers.items() for word in pair]
        plain = struct.pack(">I", len(headers))
        plain += b"".join(struct.pack(">I", len(word)) + word for word in words)
        return self.compress(plain)

    def compress(self, plain: bytes) -> bytes:
        return self._packer.compress(plain) + self._packer.flush(zlib.Z_SYNC_FLUSH)

    def open(self, stream: int, headers: Mapping[str, str], flags: int = 0) -> bytes:
        return control(1, struct.pack(">IIH", stream, 0, 0) + self.block(headers), flags)

    def frames(self, data: bytes) -> list[Frame]:
        """Return the frames that the server has sent whole."""
        self._buffer += data
        found = []
        while len(self._buffer) >= 8:
            word, sized = struct.unpack(">II", self._buffer[:8])
            flags, length = sized >> 24, sized & 0xFFFFFF
            if len(self._buffer) < 8 + length:
                break
            payload, self._buffer = self._buffer[8 : 8 + length], self._buffer[8 + length :]
            if not word & 0x8000_0000:
                found.append(Frame(None, word, flags, payload))
            else:
                stream = struct.unpack(">I", payload[:4])[0]
                found.append(Frame(word & 0xFFFF, stream, flags, payload))
        return found

    def headers(self, block: bytes) -> bytes:
        return self._unpacker.decompress(block)


def control(kind: int, payload: bytes, flags: int = 0, *, version: int = 3) -> bytes:
    return struct.pack(">HHI", 0x8000 | version, kind, flags << 24 | len(payload)) + payload


def data(stream: int, payload: bytes, flags: int = 0) -> bytes:
    return struct.pack(">II", stream, flags << 24 | len(payload)) + payload


def reset(stream: int, status: int = 5) -> bytes:
    return control(3, struct.pack(">II", stream, status))


def ping(number: int) -> bytes:
    return control(6, struct.pack(">I", number))
