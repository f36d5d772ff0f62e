"""Requests as they are written anew."""

import pytest

from kwokctl.api_proxy.client_identity import CertifiedUser
from kwokctl.api_proxy.request_bytes import body_bytes, head_bytes
from kwokctl.embedded.http.messages import RefusedError
from kwokctl.embedded.http.parsing import ClientGoneError, read_head


def written(*lines: str, user: CertifiedUser | None = None) -> list[str]:
    head = read_head("\r\n".join([*lines, "", ""]).encode("latin-1"), "")
    return head_bytes(head, user).decode("latin-1").split("\r\n")


def test_a_head_is_written_with_its_target_and_its_headers() -> None:
    found = written("GET /api/v1/pods?a=%20b&c HTTP/1.1", "Host: x", "X-Thing: 1", "X-Thing: 2")

    assert found == [
        "GET /api/v1/pods?a=%20b&c HTTP/1.1", "host: x", "x-thing: 1", "x-thing: 2", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["X-Remote-User", "x-remote-group", "X-REMOTE-EXTRA-a", "X-Remote-Uid"]
)
def test_nobody_says_himself_who_he_is(name: str) -> None:
    assert written("GET / HTTP/1.1", "Host: x", f"{name}: root") == [
        "GET / HTTP/1.1", "host: x", "", "",
    ]  # fmt: skip


def test_a_user_with_a_certificate_is_named() -> None:
    bob = CertifiedUser(name="bob", groups=("a",))
    found = written("GET / HTTP/1.1", "Host: x", "X-Remote-User: root", user=bob)

    assert found == [
        "GET / HTTP/1.1", "host: x", "X-Remote-User: bob", "X-Remote-Group: a", "", "",
    ]  # fmt: skip


def test_impersonation_and_tokens_pass() -> None:
    lines = ["impersonate-user: bob", "authorization: Bearer x"]

    assert written("GET / HTTP/1.1", "Host: x", *lines)[2:4] == lines


def test_only_an_upgrade_is_passed_on_of_what_is_said_about_the_connection() -> None:
    kept = written(
        "GET / HTTP/1.1", "Host: x", "Connection: keep-alive, x-remote-user", "Keep-Alive: 5"
    )
    upgraded = written("GET / HTTP/1.1", "Host: x", "Connection: upgrade, x", "Upgrade: websocket")

    assert kept == ["GET / HTTP/1.1", "host: x", "", ""]
    assert upgraded[2:4] == ["connection: Upgrade", "upgrade: websocket"]


@pytest.mark.parametrize(
    "lines",
    [
        ("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: gzip, chunked"),
        ("POST / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
        ("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Transfer-Encoding: chunked"),
        ("POST / HTTP/1.1", "Host: x", "Content-Length: 3", "Content-Length: 4"),
        ("CONNECT x:443 HTTP/1.1", "Host: x"),
        ("POST / HTTP/1.1", "Host: x", "Transfer-Encoding : chunked"),
        ("POST / HTTP/1.1", "Host: x", "Content-Length: +3"),
        ("GET / HTTP/1.1", "Host: x", "X-A: b", " X-Remote-User: root"),
        ("GET / HTTP/1.1", "Host: x", "X-A: b\rX-Remote-User: root"),
        ("GET / HTTP/1.1", "Host: x", "X-A: b\nX-Remote-User: root"),
        ("GET / HTTP/1.1", "Host: x", "X-Remote-User\t: root"),
        ("GET /\tx HTTP/1.1", "Host: x"),
    ],
)
def test_what_the_api_server_might_read_otherwise_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(RefusedError):
        written(*lines)


async def body(received: bytes, *headers: str) -> bytes:
    head = read_head("\r\n".join(["POST / HTTP/1.1", "Host: x", *headers, "", ""]).encode(), "")
    left = bytearray(received)

    async def take(most: int) -> bytes:
        found = bytes(left[: min(most, 3)])
        del left[: len(found)]
        return found

    sent = b"".join([piece async for piece in body_bytes(head, take)])
    return sent + b"|" + bytes(left)


async def test_a_body_is_passed_on_to_its_end_and_not_beyond() -> None:
    assert await body(b"abcdefGET", "Content-Length: 6") == b"abcdef|GET"
    assert await body(b"GET") == b"|GET"


async def test_chunks_are_written_anew_without_what_else_they_say() -> None:
    received = b"4;x=y\r\nabcd\r\n0\r\nX-Remote-User: root\r\n\r\nGET"

    assert await body(received, "Transfer-Encoding: chunked") == (
        b"3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n|GET"
    )


@pytest.mark.parametrize(
    "received",
    [b"4\nabcd\r\n", b"-1\r\n", b"+4\r\nabcd\r\n0\r\n\r\n", b"0x4\r\nabcd", b"\r\n", b"1\r\nab\r\n", b"4 4\r\nabcd", b"9" * 5000],
)  # fmt: skip
async def test_chunks_that_are_malformed_are_refused(received: bytes) -> None:
    with pytest.raises(RefusedError):
        await body(received, "Transfer-Encoding: chunked")


async def test_a_client_that_goes_within_its_body_is_noticed() -> None:
    with pytest.raises(ClientGoneError):
        await body(b"ab", "Content-Length: 6")
