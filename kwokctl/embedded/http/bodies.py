"""Reads the bodies of requests, bounded by bytes whatever pieces they come in."""

from collections.abc import Awaitable, Callable

import httptools

from kwokctl.embedded.http.limits import LONGEST_BODY
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import RequestHead

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
