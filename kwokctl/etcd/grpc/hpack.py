"""Encodes and decodes HTTP/2 header blocks (RFC 7541), without a dynamic table.

We announce a table of size 0, so whatever a server sends can be read without what it sent before,
and what we send never touches its table.
"""

from kwokctl.etcd.grpc.http2_frames import PeerError

_STATUSES = ("200", "204", "206", "304", "400", "404", "500")
_STATIC_NAMES = {8 + n: b":status" for n in range(7)} | {31: b"content-type"}
_STATIC_VALUES = {8 + n: s.encode() for n, s in enumerate(_STATUSES)}
_STATIC_ENTRIES = 61
"""The static table of appendix A; names that are not used here are empty."""

_LENGTHS = (
    "ISXXXXXXXTZXXZXXXXXXXXZXXXXXXXXXBFFHIBDGFFDGDBBBAAABBBBBBBCDKBHF"
    "IBCCCCCCCCCCCCCCCCCCCCCCDCDIOIJBKABABABBBACCBBBABCBAABCCCCCKGJIX"
    "PRPPRRRSRSSSSSTSTTRSTSSSSQRSRSSTRQPRRSSQSRRTQRSSQQRQSRSSPRRRSRRS"
    "VVPORSRUVVVWWVTUOQVWWVWTQQVVXWWWPTPQRQQSRRUUTTVSVWVVWWWWWXWWWWWVZ"
)
"""Bits of each symbol's Huffman code in appendix B, `A` for 5; the code is canonical."""


def encode(headers: list[tuple[bytes, bytes]]) -> bytes:
    """Encode headers as literals that no table keeps."""
    return b"".join(b"\0" + _plain(name) + _plain(value) for name, value in headers)


def _plain(text: bytes) -> bytes:
    """Encode a text without Huffman code: its length, in seven bits and what is beyond, and it."""
    size = len(text)
    if size < 0x7F:
        return bytes((size,)) + text
    head, size = bytearray((0x7F,)), size - 0x7F
    while size >= 0x80:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + text


def decode(block: bytes) -> list[tuple[bytes, bytes]]:
    """Decode a block. Names from the static table that are not used here are empty.

    Raises PeerError for what is cut, too long, or refers to the dynamic table.
    """
    found: list[tuple[bytes, bytes]] = []
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:
            index, at = _integer(block, at, 0x7F)
            found.append((_name(index), _STATIC_VALUES.get(index, b"")))
        elif first & 0xE0 == 0x20:
            size, at = _integer(block, at, 0x1F)
            if size:
                raise PeerError("a header block asks for a table size that was not offered")
        else:
            # With or without indexing: nothing fits into a table of size 0.
            index, at = _integer(block, at, 0x3F if first & 0x40 else 0x0F)
            name, at = (_name(index), at) if index else _string(block, at)
            value, at = _string(block, at)
            found.append((name, value))
    return found


def _name(index: int) -> bytes:
    if not 0 < index <= _STATIC_ENTRIES:
        raise PeerError(f"a header block refers to entry {index} of a table that is empty")
    return _STATIC_NAMES.get(index, b"")


def _integer(block: bytes, at: int, prefix: int) -> tuple[int, int]:
    """Read an integer whose first byte has the bits `prefix` for it; return where it ends, too."""
    value = block[at] & prefix
    at += 1
    if value < prefix:
        return value, at
    for shift in range(0, 28, 7):
        if at >= len(block):
            raise PeerError("a header block is truncated")
        byte = block[at]
        at += 1
        value += (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise PeerError("a header block holds a number that is too large")


def _string(block: bytes, at: int) -> tuple[bytes, int]:
    if at >= len(block):
        raise PeerError("a header block is truncated")
    is_packed = block[at] & 0x80
    length, at = _integer(block, at, 0x7F)
    end = at + length
    if end > len(block):
        raise PeerError("a header block is truncated")
    text = block[at:end]
    return (_unpacked(text) if is_packed else text), end


def _codes() -> dict[tuple[int, int], int]:
    """Build the Huffman code: within a length, codes rise with their symbols."""
    codes: dict[tuple[int, int], int] = {}
    code = length = 0
    for bits, symbol in sorted((ord(c) - ord("A") + 5, n) for n, c in enumerate(_LENGTHS)):
        code <<= bits - length
        length = bits
        codes[length, code] = symbol
        code += 1
    return codes


_SYMBOLS = _codes()


def _unpacked(text: bytes) -> bytes:
    out = bytearray()
    code = length = 0
    for byte in text:
        for shift in range(7, -1, -1):
            code = code << 1 | byte >> shift & 1
            length += 1
            symbol = _SYMBOLS.get((length, code))
            if symbol is not None:
                if symbol == 256:
                    raise PeerError("a header's text contains the end-of-string symbol")
                out.append(symbol)
                code = length = 0
            elif length > 30:
                raise PeerError("a header's text is not Huffman code")
    if length > 7 or code != (1 << length) - 1:
        raise PeerError("a header's text is padded wrongly")
    return bytes(out)
