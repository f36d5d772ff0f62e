import asyncio

import pytest

from kwokctl.controller.server import StatusServer, parse_address
from kwokctl.errors import UsageError


async def ask(port: int, line: str) -> tuple[str, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    head, _, body = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    await writer.wait_closed()
    return head.split("\r\n")[0], body


async def served(ready: bool, *lines: str) -> list[tuple[str, str]]:
    server = StatusServer(is_ready=lambda: ready, metrics=lambda: "objects 3\n")
    await server.start("127.0.0.1", 0)
    try:
        return [await ask(server.port, line) for line in lines]
    finally:
        server.close()


async def test_a_live_controller_answers_ok() -> None:
    answers = await served(False, "GET /healthz", "GET /livez")

    assert answers == [("HTTP/1.1 200 OK", "ok")] * 2


async def test_it_is_ready_only_when_everything_has_been_listed() -> None:
    assert await served(False, "GET /readyz") == [
        ("HTTP/1.1 503 Service Unavailable", "not synced")
    ]
    assert await served(True, "GET /readyz?verbose=1") == [("HTTP/1.1 200 OK", "ok")]


async def test_metrics_are_text() -> None:
    assert await served(True, "GET /metrics") == [("HTTP/1.1 200 OK", "objects 3\n")]


async def test_what_it_does_not_know_it_says() -> None:
    answers = await served(True, "GET /x", "POST /healthz", "HEAD /healthz", "nonsense")

    assert [status.split(" ")[1] for status, _ in answers] == ["404", "405", "200", "405"]
    assert answers[2][1] == ""


async def test_a_silent_client_is_not_waited_for_at_the_end() -> None:
    server = StatusServer(is_ready=lambda: True, metrics=str)
    await server.start("127.0.0.1", 0)
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)

    server.close()

    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("127.0.0.1:10247", ("127.0.0.1", 10247)),
        (":10247", ("0.0.0.0", 10247)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_an_address_is_read(text: str, expected: tuple[str, int]) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize("text", ["host", "host:", "host:99999", "host:http"])
def test_a_wrong_address_is_named(text: str) -> None:
    with pytest.raises(UsageError, match=text):
        parse_address(text)
