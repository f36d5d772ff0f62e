""""""

import gc
from collections.abc import Iterable

import pytest

from kwokctl.embedded.http.client_limits import LONGEST_BODY
from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.embedded.http.parsing import ClientGoneError, RequestHead, Take, read_body, read_head


def head(*lines: str) -> RequestHead:
    return read_head(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"), "127.0.0.1")


def test_a_head_says_what_is_asked_for() -> None:
    read = head(
        "POST /exec/a/b%2Fc?command=ls&command=-l&tty= HTTP/1.1",
        "Host: x",
        "X-Stream-Protocol-Version: v4",
        "X-Stream-Protocol-Version: v3",
        "Content-Length: 3",
    )
    request = read.whole(b"abc")

    assert (request.method, request.body, request.local_host) == ("POST", b"abc", "127.0.0.1")
    assert request.segments == ("exec", "a", "b/c")
    assert request.parameters("command") == ("ls", "-l")
    assert request.query[-1] == ("tty", "")
    assert request.all_headers("x-stream-protocol-version") == ("v4", "v3")
    assert (read.has_body, read.length, read.is_kept) == (True, 3, True)


def test_what_may_be_large_is_not_read_before_the_client_is_admitted() -> None:
    read = head("POST /a?b=c HTTP/1.1", "Content-Length: 3")

    assert (read.request.query, read.request.body) == ((), b"")


@pytest.mark.parametrize(
    ("lines", "is_kept", "has_body", "wants_upgrade"),
    [
        (("GET / HTTP/1.1",), True, False, False),
        (("GET / HTTP/1.0",), False, False, False),
        (("GET / HTTP/1.0", "Connection: keep-alive"), True, False, False),
        (("GET / HTTP/1.1", "Connection: close"), False, False, False),
        (("GET /",), False, False, False),
        (("POST / HTTP/1.1", "Content-Length: 0"), True, False, False),
        (("POST / HTTP/1.1", "Transfer-Encoding: chunked"), True, True, False),
        (("GET / HTTP/1.1", "Connection: Upgrade", "Upgrade: SPDY/3.1"), True, False, True),
    ],
)
def test_a_head_says_what_follows_it(
    lines: tuple[str, ...], is_kept: bool, has_body: bool, wants_upgrade: bool
) -> None:
    read = head(*lines)

    assert (read.is_kept, read.has_body, read.wants_upgrade) == (is_kept, has_body, wants_upgrade)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (("nonsense",), 400),
        (("\x80\x03",), 400),
        (("GET /a", "GET /b", "GET /c"), 400),
        (("GET / HTTP/1.1\nHost: x",), 400),
        (("GET / HTTP/1.1", "Content-Length: 1", "Transfer-Encoding: chunked"), 400),
        (("GET / HTTP/1.1", "Content-Length: -2"), 400),
        (("PRI * HTTP/2.0", "", "SM"), 400),
        (("GET / HTTP/1.1", *["a: b"] * 101), 431),
        (("GET / HTTP/1.1", *["a:"] * 5_000), 431),
    ],
)
def test_what_is_wrong_or_has_too_many_headers_is_refused(
    lines: tuple[str, ...], status: int
) -> None:
    with pytest.raises(RefusedError) as caught:
        head(*lines)
    assert caught.value.status == status


def test_as_many_headers_as_may_be_are_all_there() -> None:
    assert len(head("GET / HTTP/1.1", *["a: b"] * 100).request.headers) == 100


def test_nothing_is_left_of_a_head_for_the_garbage_collector() -> None:
    head("GET / HTTP/1.1")
    gc.collect()
    head("GET / HTTP/1.1", "Host: x")
    with pytest.raises(RefusedError):
        head("nonsense")

    assert gc.collect() == 0


def test_a_header_that_is_not_there_is_empty() -> None:
    request = Request(method="GET", path="/")

    assert (request.header("a"), request.parameter("b")) == ("", "")


def posted(header: str) -> RequestHead:
    return read_head(f"POST / HTTP/1.1\r\n{header}\r\n\r\n".encode(), "")


CHUNKED = posted("Transfer-Encoding: chunked")


def taking(pieces: Iterable[bytes]) -> Take:
    """Return what yields these pieces, and then the end of the connection."""
    left = iter(pieces)

    async def take(most: int) -> bytes:
        piece = next(left, b"")
        assert len(piece) <= most
        return piece

    return take


async def test_a_body_is_whole_whatever_pieces_it_comes_in() -> None:
    text = b"3;of=three\r\nabc\r\n2\r\nde\r\n0\r\nA-Trailer: x\r\n\r\n"

    assert await read_body(posted("Content-Length: 5"), taking([b"ab", b"c", b"de"])) == b"abcde"
    assert await read_body(CHUNKED, taking([text])) == b"abcde"
    assert await read_body(CHUNKED, taking(bytes([each]) for each in text)) == b"abcde"
    assert await read_body(posted("Content-Length: 0"), taking([])) == b""


async def test_what_comes_behind_chunks_is_no_part_of_them() -> None:
    behind = b"2\r\nde\r\n0\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nxx\x80\x03"

    assert await read_body(CHUNKED, taking([behind])) == b"de"


@pytest.mark.parametrize("head", [posted("Content-Length: 5"), CHUNKED])
async def test_a_client_may_go_before_its_body_is_whole(head: RequestHead) -> None:
    with pytest.raises(ClientGoneError):
        await read_body(head, taking([b"2\r\n"]))


@pytest.mark.parametrize(
    ("head", "pieces", "status"),
    [
        (posted(f"Content-Length: {LONGEST_BODY + 1}"), [], 413),
        (CHUNKED, [b"2000\r\n" + b"a" * 0x2000 + b"\r\n"] * 600, 413),
        (CHUNKED, [b"1;" + b"a" * 16_000 + b"\r\n", b"b\r\n"] * 5000, 413),
        (CHUNKED, [b"nonsense\r\n"], 400),
    ],
)
async def test_a_body_that_is_wrong_or_too_long_is_refused(
    head: RequestHead, pieces: list[bytes], status: int
) -> None:
    with pytest.raises(RefusedError) as caught:
        await read_body(head, taking(pieces))
    assert caught.value.status == status
