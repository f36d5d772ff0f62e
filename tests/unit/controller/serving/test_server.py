import asyncio
from contextlib import suppress

import pytest

from kwokctl.controller.serving.routes import Authorizer, Handlers, routes
from kwokctl.controller.serving.scale_api import RetryLaterError
from kwokctl.controller.serving.server import Server

OWNER = "Authorization: Bearer secret"


async def ask(port: int, line: str, *headers: str, body: str = "") -> tuple[str, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "\r\n".join([f"{line} HTTP/1.1", "Host: x", "Connection: close", *headers])
    writer.write(f"{head}\r\n\r\n{body}".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.split("\r\n")[0], body


def answers(ready: bool) -> Handlers:
    async def metrics() -> str:
        return "objects 3\n"

    def reserve(body: bytes) -> bytes:
        if body == b"nonsense":
            raise ValueError("it is nonsense")
        if body == b"too-much":
            raise RetryLaterError("there is no room")
        return b"reserved " + body

    return Handlers(
        is_ready=lambda: ready,
        metrics=metrics,
        kubelet=b'{"name":"localhost"}',
        stages=lambda: None,
        seen=lambda: b'{"nodes":7}' if ready else None,
        reserve=reserve,
    )


def made(ready: bool = True, token: str | None = "secret") -> Server:
    return Server(routes(answers(ready)), Authorizer(token))


async def served(
    ready: bool, *lines: str, shows: str = OWNER, token: str | None = "secret"
) -> list[tuple[str, str]]:
    server = made(ready, token)
    await server.start("127.0.0.1", 0)
    try:
        return [await ask(server.port, line, shows) for line in lines]
    finally:
        server.close()


async def test_a_live_controller_answers_ok_to_every_client() -> None:
    answers = await served(False, "GET /healthz", "GET /livez", shows="X: none")

    assert answers == [("HTTP/1.1 200 OK", "ok")] * 2


async def test_it_is_ready_only_when_everything_has_been_listed() -> None:
    assert await served(False, "GET /readyz") == [
        ("HTTP/1.1 503 Service Unavailable", "not synced")
    ]
    assert await served(True, "GET /readyz?verbose=1") == [("HTTP/1.1 200 OK", "ok")]


async def test_metrics_are_text() -> None:
    assert await served(True, "GET /metrics") == [("HTTP/1.1 200 OK", "objects 3\n")]


async def test_an_unknown_path_or_method_gets_404_or_405() -> None:
    answers = await served(True, "GET /x", "POST /healthz", "HEAD /healthz", "nonsense")

    assert [status.split(" ")[1] for status, _ in answers] == ["404", "405", "200", "405"]
    assert answers[2][1] == ""


async def test_a_connection_carries_one_request_after_another() -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    shown = f"{OWNER}\r\n".encode()
    post = b"POST /pod-addresses HTTP/1.1\r\n" + shown + b"Content-Type: application/json\r\n"
    for request, body in (
        (b"GET /seen HTTP/1.1\r\n" + shown + b"\r\n", b'{"nodes":7}'),
        (post + b"Content-Length: 2\r\n\r\n{}", b"reserved {}"),
        (b"GET /livez HTTP/1.1\r\n\r\n", b"ok"),
    ):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"\r\nConnection: keep-alive\r\n" in head
        assert await reader.readexactly(len(body)) == body

    writer.close()
    await writer.wait_closed()
    server.close()


@pytest.mark.parametrize(
    "request_",
    [
        b"GET /livez HTTP/1.0\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n",
        b"GET /livez HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        b"DELETE /livez HTTP/1.1\r\n\r\n",
        b"POST /pod-addresses HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}",
        f"POST /pod-addresses HTTP/1.1\r\n{OWNER}\r\nContent-Length: 2\r\n\r\n{{}}".encode(),
    ],
)
async def test_an_ambiguous_request_is_the_last_of_its_connection(request_: bytes) -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request_)

    answer = await reader.read()

    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    writer.close()
    await writer.wait_closed()
    server.close()


async def test_a_silent_client_is_not_waited_for_at_the_end() -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)

    server.close()

    writer.close()
    await writer.wait_closed()


async def test_how_far_the_watches_have_come_is_answered_once_there_are_any() -> None:
    assert await served(True, "GET /seen") == [("HTTP/1.1 200 OK", '{"nodes":7}')]
    assert (await served(False, "GET /seen"))[0][0].endswith("503 Service Unavailable")


@pytest.mark.parametrize(
    ("headers", "body", "status", "answer"),
    [
        (("Content-Type: application/json", "Content-Length: 2"), "{}", 200, "reserved {}"),
        (
            ("Content-Type: application/json", "Content-Length: 8"),
            "nonsense",
            400,
            "it is nonsense\n",
        ),
        (("Content-Type: text/plain", "Content-Length: 2"), "{}", 415, None),
        (("Content-Type: application/json",), "{}", 413, None),
        (("Content-Type: application/json", "Content-Length: 99999999"), "", 413, None),
        (("Content-Type: application/json", f"Content-Length: {'9' * 9000}"), "", 413, None),
        (("Content-Type: application/json", "Content-Length: -2"), "", 413, None),
        (
            ("Content-Type: application/json", "Content-Length: 8"),
            "too-much",
            503,
            "there is no room\n",
        ),
    ],
)
async def test_addresses_are_reserved_for_json_with_a_length_only(
    headers: tuple[str, ...], body: str, status: int, answer: str | None
) -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    try:
        line, text = await ask(server.port, "POST /pod-addresses", OWNER, *headers, body=body)
    finally:
        server.close()

    assert line.split(" ")[1] == str(status)
    assert answer is None or text == answer


GUARDED = ("GET /metrics", "HEAD /metrics", "GET /seen", "GET /kubelet", "POST /pod-addresses")


@pytest.mark.parametrize(
    "shows",
    [
        "X: none",
        "Authorization: Bearer secre",
        "Authorization: Bearer secrets",
        "Authorization: Bearer ",
        "Authorization: Basic secret",
        "Authorization: secret",
    ],
)
async def test_all_else_is_only_for_clients_that_show_the_token(shows: str) -> None:
    answers = await served(True, *GUARDED, shows=shows)

    assert [status.split(" ")[1] for status, _ in answers] == ["401"] * len(GUARDED)
    assert "--server-token-file" in answers[0][1]


async def test_without_a_token_there_is_none_to_show() -> None:
    answers = await served(True, *GUARDED, shows="Authorization: Bearer None", token=None)

    assert [status.split(" ")[1] for status, _ in answers] == ["401"] * len(GUARDED)


async def test_the_body_of_an_unauthorized_post_is_not_read() -> None:
    """The answer comes though the body never does."""
    head = ("Content-Type: application/json", "Content-Length: 4000000")
    server = made()
    await server.start("127.0.0.1", 0)
    try:
        line, _ = await ask(server.port, "POST /pod-addresses", *head)
    finally:
        server.close()

    assert line.split(" ")[1] == "401"


async def test_a_head_without_end_is_not_read_to_its_end() -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        writer.write(b"GET /livez HTTP/1.1\r\nX: " + b"x" * 100_000)
        assert await reader.read() == b""
    except ConnectionError:
        pass
    finally:
        writer.close()
        server.close()


async def test_the_oldest_of_too_many_unauthorized_connections_is_closed() -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    known, into_known = await asyncio.open_connection("127.0.0.1", server.port)
    into_known.write(f"GET /seen HTTP/1.1\r\n{OWNER}\r\n\r\n".encode())
    assert b" 200 " in await known.readuntil(b"\r\n\r\n")
    assert await known.readexactly(11) == b'{"nodes":7}'
    strangers = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(501)]

    line, _ = await ask(server.port, "GET /livez")

    assert line.split(" ")[1] == "200"
    for reader, _ in strangers[:2]:
        with suppress(ConnectionError):
            assert await reader.read() == b""
    into_known.write(f"GET /livez HTTP/1.1\r\n{OWNER}\r\n\r\n".encode())
    assert b" 200 " in await known.readuntil(b"\r\n\r\n")
    for writer in (into_known, *(each for _, each in strangers)):
        writer.close()
    server.close()


async def test_a_request_that_may_succeed_later_gets_retry_after() -> None:
    server = made()
    await server.start("127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    head = f"POST /pod-addresses HTTP/1.1\r\n{OWNER}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: 8\r\n\r\ntoo-much".encode())

    answer = await reader.readuntil(b"\r\n\r\n")

    assert b" 503 " in answer
    assert b"\r\nRetry-After: 1\r\n" in answer
    writer.close()
    await writer.wait_closed()
    server.close()
