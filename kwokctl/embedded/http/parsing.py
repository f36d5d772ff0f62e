"""Parses requests: one head at a time, with httptools, and its body.

A body is bounded by bytes, whatever pieces it comes in.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import parse_qsl

import httptools
import msgspec

from kwokctl.embedded.http.client_limits import LONGEST_BODY, MOST_HEADERS
from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.replacing import replace


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """A request without its body, which is read only for permitted clients; and whether its connection stays open."""

    request: Request
    """Without what may be large: its query, and its body."""
    query: str
    length: int
    """Bytes of the body, where they are known."""
    is_chunked: bool
    """Whether the body says itself where it ends."""
    is_kept: bool
    """Whether another request may follow on the connection."""
    wants_upgrade: bool
    """Whether no HTTP follows if the request is served so."""

    @property
    def has_body(self) -> bool:
        """Whether something follows that belongs to the request."""
        return self.is_chunked or self.length > 0

    def whole(self, body: bytes) -> Request:
        """Return the request with everything."""
        if not self.query and not body:
            return self.request
        query = tuple(parse_qsl(self.query, keep_blank_values=True))
        return replace(self.request, query=query, body=body)


def read_head(head: bytes, local_host: str) -> RequestHead:
    """Read a head with the empty line that ends it; RefusedError says what is wrong with it."""
    # Before each of them becomes an object.
    if head.count(b"\n") > MOST_HEADERS + 2:
        raise RefusedError(431, f"the request has more than {MOST_HEADERS} headers")
    parts = _Parts()
    wants_upgrade = _feed(parts, head)
    if parts.heads != 1:
        raise RefusedError(400, "the request is not HTTP/1.1")
    path, _, query = parts.url.decode("latin-1").partition("?")
    request = Request(
        method=parts.method,
        path=path,
        headers=tuple(parts.headers),
        local_host=local_host,
    )
    return RequestHead(
        request=request,
        query=query,
        # The parser has refused what is no number, and both at once.
        length=int(request.header("content-length") or 0),
        is_chunked=bool(request.header("transfer-encoding")),
        is_kept=parts.is_kept,
        wants_upgrade=wants_upgrade,
    )


class _Parts:
    """Collects what the parser finds in a head."""

    def __init__(self) -> None:
        self.parser: httptools.HttpRequestParser | None = None
        self.heads = 0
        """More than one are lines of HTTP/0.9."""
        self.method = ""
        self.url = b""
        self.headers: list[tuple[str, str]] = []
        self.is_kept = False

    def on_url(self, url: bytes) -> None:
        """Keep a part of the target."""
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Keep what the parser forgets as soon as the request is whole."""
        assert self.parser is not None
        self.heads += 1
        self.method = self.parser.get_method().decode("ascii")
        self.is_kept = self.parser.should_keep_alive()


def _feed(parts: _Parts, head: bytes) -> bool:
    """Parse a head; True if the request wants an upgrade, RefusedError if it is wrong."""
    parts.parser = httptools.HttpRequestParser(parts)
    try:
        parts.parser.feed_data(head)
    except httptools.HttpParserUpgrade:
        return True
    except httptools.HttpParserError as e:
        raise RefusedError(400, f"the request is not HTTP/1.1: {e}") from e
    finally:
        # Both refer to each other, and the garbage collector runs rarely.
        parts.parser = None
    return False


Take = Callable[[int], Awaitable[bytes]]
"""Returns received bytes, at most the number that is given; b"" if no more come."""

_PIECE_BYTES = 16 * 1024
_CHUNKS_BEGIN = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"


class ClientGoneError(Exception):
    """The client has gone before its request was whole."""


async def read_body(head: RequestHead, take: Take) -> bytes:
    """Return the body of a request, b"" if it has none.

    Raises RefusedError if it is too long or wrong, ClientGoneError if the client goes.
    """
    if head.is_chunked:
        return await _read_chunks(take)
    if head.length > LONGEST_BODY:
        raise _too_long()
    body = bytearray()
    while missing := head.length - len(body):
        body += await _taken(take, missing)
    return bytes(body)


async def _read_chunks(take: Take) -> bytes:
    """Return a body of chunks. What comes behind it is lost: the connection must end with the answer."""
    chunks = _Chunks()
    parser = httptools.HttpRequestParser(chunks)
    parser.feed_data(_CHUNKS_BEGIN)
    received = 0
    while not chunks.are_whole:
        piece = await _taken(take, _PIECE_BYTES)
        received += len(piece)
        # What says how large a chunk is may be larger than the chunk.
        if received > 8 * LONGEST_BODY or len(chunks.body) > LONGEST_BODY:
            raise _too_long()
        try:
            parser.feed_data(piece)
        except httptools.HttpParserError as e:
            if not chunks.are_whole:
                raise RefusedError(400, f"the body is invalid: {e}") from e
    return bytes(chunks.body)


async def _taken(take: Take, most: int) -> bytes:
    if not (piece := await take(most)):
        raise ClientGoneError("the client is gone")
    return piece


def _too_long() -> RefusedError:
    return RefusedError(413, "the body is too long")


class _Chunks:
    """Collects what the parser finds in chunks."""

    def __init__(self) -> None:
        self.body = bytearray()
        self.are_whole = False

    def on_body(self, piece: bytes) -> None:
        """Keep a part of the body."""
        if not self.are_whole:
            self.body += piece

    def on_message_complete(self) -> None:
        """Note the end; what follows is another request."""
        self.are_whole = True
