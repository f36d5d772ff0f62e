"""Packs and unpacks blocks of headers, compressed with the state of their connection.

The dictionary of 1,423 bytes is part of the protocol (https://datatracker.ietf.org/doc/html/draft-mbelshe-httpbis-spdy-00,
section 2.6.10.1): words, each behind its length in four bytes, and then one text.
"""

import struct
import zlib
from collections.abc import Iterable

from kwokctl.kubelet.streams.spdy.spdy_frames import SpdyError

_WORDS = (
    "options head post put delete trace "
    "accept accept-charset accept-encoding accept-language accept-ranges "
    "age allow authorization cache-control connection content-base content-encoding "
    "content-language content-length content-location content-md5 content-range content-type "
    "date etag expect expires from host if-match if-modified-since if-none-match if-range "
    "if-unmodified-since last-modified location max-forwards pragma proxy-authenticate "
    "proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status"
)
_PAIRS = ("200 OK", "version", "HTTP/1.1", "url", "public", "set-cookie", "keep-alive", "origin")
_TEXT = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 "
    "Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age="
    "gzip,deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)


def _behind_its_length(word: str) -> bytes:
    return len(word).to_bytes(4, "big") + word.encode("ascii")


DICTIONARY = b"".join(map(_behind_its_length, (*_WORDS.split(), *_PAIRS))) + _TEXT.encode("ascii")

Headers = tuple[tuple[str, str], ...]
"""Names in lower case; a name with several values comes once for each."""

_NUMBER = struct.Struct(">I")
_MOST = 100
"""Headers in a block; those of Kubernetes are fewer than ten."""
_LONGEST = 64 * 1024
"""Bytes of a block without compression."""


class HeaderPacker:
    """Compresses the blocks that one side of a connection sends, in their order."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(zdict=DICTIONARY)

    def pack(self, headers: Headers) -> bytes:
        """Return the block of some headers; each name comes once."""
        fields = (word for header in headers for word in header)
        block = _NUMBER.pack(len(headers)) + b"".join(map(_field, fields))
        return self._compressor.compress(block) + self._compressor.flush(zlib.Z_SYNC_FLUSH)


class HeaderUnpacker:
    """Reads the blocks that the other side sends, in their order."""

    def __init__(self) -> None:
        self._decompressor = zlib.decompressobj(zdict=DICTIONARY)

    def unpack(self, packed: bytes) -> Headers:
        """Return the headers of a block. Raises SpdyError for one that is malformed or too long."""
        try:
            block = self._decompressor.decompress(packed, _LONGEST)
        except zlib.error as e:
            raise SpdyError("headers cannot be decompressed") from e
        # What is not taken now would be missing from the next block.
        if self._decompressor.unconsumed_tail or self._decompressor.unused_data:
            raise SpdyError("headers are too long")
        return tuple(_headers(_Cursor(block)))


def _field(text: str) -> bytes:
    data = text.encode("utf-8")
    return _NUMBER.pack(len(data)) + data


def _headers(cursor: "_Cursor") -> Iterable[tuple[str, str]]:
    count = cursor.number()
    if count > _MOST:
        raise SpdyError("there are too many headers")
    seen: set[str] = set()
    for _ in range(count):
        name, values = cursor.text(), cursor.text()
        if not name or name != name.lower() or name in seen:
            raise SpdyError(f"'{name[:40]}' is not a valid name of a header, or is repeated")
        seen.add(name)
        yield from ((name, value) for value in values.split("\0"))
    cursor.expect_end()


class _Cursor:
    """A place in a block."""

    def __init__(self, block: bytes) -> None:
        self._block, self._at = block, 0

    def number(self) -> int:
        return int.from_bytes(self._take(_NUMBER.size), "big")

    def text(self) -> str:
        try:
            return self._take(self.number()).decode("utf-8")
        except UnicodeDecodeError as e:
            raise SpdyError("a header is not text") from e

    def expect_end(self) -> None:
        if self._at != len(self._block):
            raise SpdyError("headers are followed by something else")

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._block):
            raise SpdyError("headers are truncated")
        taken, self._at = self._block[self._at : end], end
        return taken
