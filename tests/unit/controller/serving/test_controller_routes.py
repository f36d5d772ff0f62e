""""""

import asyncio

import pytest

from kwokctl.controller.serving.controller_routes import Handlers
from kwokctl.controller.serving.scale_api import RetryLaterError
from tests.support.controller_answers import serving_controller

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


async def served(
    ready: bool, *lines: str, shows: str = OWNER, token: str | None = "secret"
) -> list[tuple[str, str]]:
    async with serving_controller(answers(ready), token) as port:
        return [await ask(port, line, shows) for line in lines]


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
    answers = await served(True, "GET /x", "POST /healthz", "HEAD /healthz", "DELETE /seen")

    assert [status.split(" ")[1] for status, _ in answers] == ["404", "405", "200", "405"]
    assert answers[2][1] == ""


async def test_a_connection_carries_one_request_after_another() -> None:
    shown = f"{OWNER}\r\n".encode()
    post = b"POST /pod-addresses HTTP/1.1\r\n" + shown + b"Content-Type: application/json\r\n"
    async with serving_controller(answers(True)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
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
        (("Content-Type: application/json",), "", 200, "reserved "),
        (("Content-Type: application/json", "Content-Length: 99999999"), "", 413, None),
        (("Content-Type: application/json", f"Content-Length: {'9' * 9000}"), "", 400, None),
        (("Content-Type: application/json", "Content-Length: -2"), "", 400, None),
        (
            ("Content-Type: application/json", "Content-Length: 8"),
            "too-much",
            503,
            "there is no room\n",
        ),
    ],
)
async def test_addresses_are_reserved_for_json_only(
    headers: tuple[str, ...], body: str, status: int, answer: str | None
) -> None:
    async with serving_controller(answers(True)) as port:
        line, text = await ask(port, "POST /pod-addresses", OWNER, *headers, body=body)

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


async def test_a_request_that_may_succeed_later_gets_retry_after() -> None:
    head = f"POST /pod-addresses HTTP/1.1\r\n{OWNER}\r\nContent-Type: application/json\r\n"
    async with serving_controller(answers(True)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{head}Content-Length: 8\r\n\r\ntoo-much".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert b" 503 " in answer
    assert b"\r\nRetry-After: 1\r\n" in answer
