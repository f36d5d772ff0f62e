"""Turns the bytes of a connection into requests: httptools parses, the sizes are bounded here."""

from collections import deque
from urllib.parse import parse_qsl

import httptools
import msgspec

from kwokctl.kubelet.http.messages import RefusedError, Request

_LONGEST_HEAD = 512 * 1024
"""The command of `kubectl exec` is in the URL. More than is received at once, which may hold the ends of
other requests."""
_LONGEST_BODY = 1024 * 1024


class ParsedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and what becomes of its connection."""

    request: Request
    is_kept: bool
    """Whether another request may follow on the connection."""
    wants_upgrade: bool
    """Whether no HTTP follows if the request is served so."""


class RequestParser:
    """Parses the requests of one connection; `requests` are those that have come whole."""

    def __init__(self, local_host: str) -> None:
        """Wait for bytes that are sent to an address of this machine."""
        self.requests: deque[ParsedRequest] = deque()
        self.rest = b""
        """What has come behind a request that wants an upgrade."""
        self._local_host = local_host
        self._parser = httptools.HttpRequestParser(self)
        self._upgrades = False
        self._begin()

    def feed(self, data: bytes) -> None:
        """Parse more bytes; RefusedError says what is wrong with them.

        Nothing is parsed behind a request that wants an upgrade.
        """
        if self._upgrades:
            self.rest += data
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as e:
            self._upgrades = True
            self.rest = data[e.args[0] :]
        except httptools.HttpParserCallbackError as e:
            raise _cause(e) from e
        except httptools.HttpParserError as e:
            raise RefusedError(400, f"the request is not HTTP/1.1: {e}") from e
        self._in_head += len(data)
        if self._is_head and self._in_head > _LONGEST_HEAD:
            raise _TOO_LONG

    def _begin(self) -> None:
        self._is_head = True
        self._in_head = 0
        self._url = b""
        self._headers: list[tuple[str, str]] = []
        self._body: list[bytes] = []
        self._length = 0

    # Called by the parser.

    def on_message_begin(self) -> None:
        """Forget the request before."""
        self._begin()

    def on_url(self, url: bytes) -> None:
        """Keep a part of the target."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header."""
        self._headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Note that the body begins."""
        self._is_head = False

    def on_body(self, body: bytes) -> None:
        """Keep a part of the body."""
        self._length += len(body)
        if self._length > _LONGEST_BODY:
            raise RefusedError(413, "the body is too long")
        self._body.append(body)

    def on_message_complete(self) -> None:
        """Keep the whole request."""
        path, _, query = self._url.decode("latin-1").partition("?")
        request = Request(
            method=self._parser.get_method().decode("ascii"),
            path=path,
            query=tuple(parse_qsl(query, keep_blank_values=True)),
            headers=tuple(self._headers),
            body=b"".join(self._body),
            local_host=self._local_host,
        )
        self.requests.append(
            ParsedRequest(
                request=request,
                is_kept=self._parser.should_keep_alive(),
                wants_upgrade=self._parser.should_upgrade(),
            )
        )
        self._is_head, self._in_head = True, 0


_TOO_LONG = RefusedError(431, "the head of the request is too long")


def _cause(error: BaseException) -> RefusedError:
    """Return what a callback has raised; the parser wraps it."""
    cause = error.__context__ or error.__cause__
    return cause if isinstance(cause, RefusedError) else RefusedError(400, "the request is wrong")
