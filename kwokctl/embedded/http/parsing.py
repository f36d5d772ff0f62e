"""Turns the bytes of a request's head into what they mean: httptools parses, one head at a time."""

from urllib.parse import parse_qsl

import httptools
import msgspec

from kwokctl.embedded.http.limits import MOST_HEADERS
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
