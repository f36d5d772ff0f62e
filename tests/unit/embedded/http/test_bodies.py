from collections.abc import Iterable

import pytest

from kwokctl.embedded.http.bodies import ClientGoneError, Take, read_body
from kwokctl.embedded.http.limits import LONGEST_BODY
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import RequestHead, read_head


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
