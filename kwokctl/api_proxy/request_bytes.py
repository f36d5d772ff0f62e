"""Writes requests anew for the API server, so that it reads nothing that this proxy has not read.

A head is written from its parsed parts, and a body in chunks from the decoded ones: no client can hide a second request
in what this proxy takes for a part of the first.
"""

import re
from collections.abc import AsyncIterator

from kwokctl.api_proxy.client_identity import TRUSTED_HEADERS, CertifiedUser
from kwokctl.embedded.http.answer_bytes import LAST_CHUNK, chunk_of
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import ClientGoneError, RequestHead, Take

_BETWEEN_NEIGHBOURS = frozenset(
    {"connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade",
     "content-length", "transfer-encoding"}
)  # fmt: skip
"""Headers about one connection, or about how a body is sent: they are written anew."""
_PIECE = 64 * 1024
_LONGEST_LINE = 4096
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?", re.ASCII)


def head_bytes(head: RequestHead, user: CertifiedUser | None) -> bytes:
    """Write the head of a request on behalf of a verified user, if there is one; RefusedError for one that is ambiguous."""
    request = head.request
    if request.method == "CONNECT":
        raise RefusedError(405, "method not allowed")
    coding = request.all_headers("transfer-encoding")
    if coding and [each.strip().lower() for each in coding] != ["chunked"]:
        raise RefusedError(501, "the only transfer coding is 'chunked'")
    target = f"{request.path}?{head.query}" if head.query else request.path
    lines = [f"{request.method} {target} HTTP/1.1"]
    for name, value in request.headers:
        if name not in _BETWEEN_NEIGHBOURS and not name.startswith(TRUSTED_HEADERS):
            lines.append(f"{name}: {value}")
    if head.wants_upgrade:
        lines += ["connection: Upgrade", f"upgrade: {', '.join(request.all_headers('upgrade'))}"]
    if head.is_chunked:
        lines.append("transfer-encoding: chunked")
    elif request.header("content-length"):
        lines.append(f"content-length: {head.length}")
    text = "\r\n".join(lines).encode("latin-1") + b"\r\n"
    return text + (user.headers if user else b"") + b"\r\n"


async def body_pieces(head: RequestHead, take: Take) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes, decoded.

    Raises RefusedError for chunks that are malformed, and ClientGoneError if the client goes before the end.
    """
    if head.is_chunked:
        while size := await _chunk_size(take):
            async for piece in _exactly(size, take):
                yield piece
            await _end_of_line(take)
        while await _line(take):  # trailers, which no API of Kubernetes has
            pass
        return
    async for piece in _exactly(head.length, take):
        yield piece


async def body_bytes(head: RequestHead, take: Take) -> AsyncIterator[bytes]:
    """Yield the body of a request as it comes, as it is to be sent on; errors as `body_pieces`."""
    async for piece in body_pieces(head, take):
        yield chunk_of(piece) if head.is_chunked else piece
    if head.is_chunked:
        yield LAST_CHUNK


async def _exactly(size: int, take: Take) -> AsyncIterator[bytes]:
    while size:
        piece = await _taken(take, min(size, _PIECE))
        size -= len(piece)
        yield piece


async def _chunk_size(take: Take) -> int:
    found = _SIZE.fullmatch(await _line(take))
    if found is None:
        raise RefusedError(400, "the body is invalid: it is not in chunks")
    return int(found[1], 16)


async def _end_of_line(take: Take) -> None:
    if await _line(take):
        raise RefusedError(400, "the body is invalid: a chunk is longer than it says")


async def _line(take: Take) -> bytes:
    """Return a line without its end, byte by byte: what follows may be another request."""
    line = bytearray()
    while not line.endswith(b"\r\n"):
        if len(line) > _LONGEST_LINE or b"\n" in line:
            raise RefusedError(400, "the body is invalid: it is not in chunks")
        line += await _taken(take, 1)
    return bytes(line[:-2])


async def _taken(take: Take, most: int) -> bytes:
    if not (piece := await take(most)):
        raise ClientGoneError("the client is gone")
    return piece
