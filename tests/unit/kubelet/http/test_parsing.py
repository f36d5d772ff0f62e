import pytest

from kwokctl.kubelet.http.messages import RefusedError, Request
from kwokctl.kubelet.http.parsing import RequestParser


def parsed(*pieces: bytes) -> RequestParser:
    parser = RequestParser("127.0.0.1")
    for piece in pieces:
        parser.feed(piece)
    return parser


def test_a_request_is_whole_whatever_pieces_it_comes_in() -> None:
    text = (
        b"POST /exec/a/b%2Fc?command=ls&command=-l&tty= HTTP/1.1\r\nHost: x\r\n"
        b"X-Stream-Protocol-Version: v4\r\nX-Stream-Protocol-Version: v3\r\n"
        b"Content-Length: 3\r\n\r\nabc"
    )
    at_once, by_byte = parsed(text), parsed(*(bytes([each]) for each in text))

    request = at_once.requests[0].request
    assert list(by_byte.requests) == list(at_once.requests)
    assert (request.method, request.body) == ("POST", b"abc")
    assert request.segments == ("exec", "a", "b/c")
    assert request.parameters("command") == ("ls", "-l")
    assert request.query[-1] == ("tty", "")
    assert request.all_headers("x-stream-protocol-version") == ("v4", "v3")


def test_requests_that_follow_each_other_are_all_there() -> None:
    parser = parsed(b"GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.0\r\n\r\n")

    assert [(each.request.path, each.is_kept) for each in parser.requests] == [
        ("/a", True),
        ("/b", False),
    ]


def test_what_follows_an_upgrade_is_left_as_it_is() -> None:
    head = b"GET /exec HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n"
    parser = parsed(head + b"\x80\x03", b"\x00\x01")

    assert parser.requests[0].wants_upgrade
    assert parser.rest == b"\x80\x03\x00\x01"


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"\x80\x03\x00\x01", 400),
        (b"GET /" + b"a" * 600_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 120_000, 431),
        (b"POST / HTTP/1.1\r\nContent-Length: 9999999\r\n\r\n" + b"a" * 1_100_000, 413),
    ],
)
def test_what_is_wrong_or_too_long_is_refused(text: bytes, status: int) -> None:
    with pytest.raises(RefusedError) as caught:
        parsed(text)
    assert caught.value.status == status


def test_a_header_that_is_not_there_is_empty() -> None:
    request = Request(method="GET", path="/")

    assert (request.header("a"), request.parameter("b")) == ("", "")
