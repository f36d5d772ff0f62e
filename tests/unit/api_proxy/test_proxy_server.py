"""The proxy between a client and an API server, over TLS."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from kwokctl.embedded.http.client_limits import MOST_STRANGERS
from tests.support.api_faults import api_fault
from tests.support.certificates import certificates
from tests.support.proxied import OK, proxied

GET = "GET /api/v1/nodes HTTP/1.1"
TOKEN = "Authorization: Bearer secret"
AGENT = "User-Agent: kube-scheduler/v1"


async def test_a_client_with_a_token_gets_what_the_api_server_answers(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        assert await proxy.ask(GET, TOKEN) == OK

        assert b"authorization: Bearer secret\r\n" in proxy.heads[0]
        assert proxy.shown == [False]


async def test_for_a_client_with_a_certificate_the_proxy_vouches(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        await proxy.ask(GET, "X-Remote-User: root", pair=certificates().client)

        assert proxy.shown == [True]
        assert b"X-Remote-User: client\r\n" in proxy.heads[0]
        assert b"root" not in proxy.heads[0]


@pytest.mark.parametrize("credential", [(), ("Authorization: Bearer wrong",)])
async def test_nobody_becomes_somebody_by_a_header(
    tmp_path: Path, credential: tuple[str, ...]
) -> None:
    async with proxied(tmp_path) as proxy:
        await proxy.ask(GET, *credential, "X-Remote-User: root", "X-Remote-Group: system:masters")

        assert proxy.shown == [False]
        assert b"remote" not in proxy.heads[0].lower()


async def test_a_certificate_of_another_authority_is_none(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        with suppress(OSError):  # how TLS fails depends on who is first
            assert await proxy.ask(GET, pair=certificates("other").client) == b""

        assert proxy.heads == []


async def test_requests_follow_each_other_on_both_connections(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy, proxy.client() as (reader, writer):
        for _ in range(3):
            writer.write(f"{GET}\r\nHost: x\r\n{TOKEN}\r\n\r\n".encode())
            assert await reader.readexactly(len(OK)) == OK

        assert len(proxy.heads) == 3
        assert len(proxy.shown) == 1


async def test_requests_that_are_sent_ahead_are_answered_in_their_order(tmp_path: Path) -> None:
    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = head.split(b" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(path), path))

    async with proxied(tmp_path, answer) as proxy, proxy.client() as (reader, writer):
        writer.write(b"".join(b"GET /number-%d HTTP/1.1\r\nHost: x\r\n\r\n" % n for n in range(3)))
        for number in range(3):
            assert (await reader.readuntil(b"number-")).startswith(b"HTTP/1.1 200")
            assert await reader.readexactly(1) == b"%d" % number


async def _echo(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
    while size:
        piece = await reader.read(min(size, 65536))
        size -= len(piece)
        writer.write(piece)
        await writer.drain()


async def test_a_large_body_passes_while_it_comes(tmp_path: Path) -> None:
    async with proxied(tmp_path, _echo) as proxy, proxy.client() as (reader, writer):
        half = b"x" * 3_000_000
        writer.write(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 6000000\r\n\r\n" + half)
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(2_900_000) == half[:2_900_000]
        writer.write(half)
        assert len(await reader.readexactly(3_100_000)) == 3_100_000


async def test_the_answer_to_head_has_no_body_and_another_request_follows(tmp_path: Path) -> None:
    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n" if b"HEAD" in head else OK)

    async with proxied(tmp_path, answer) as proxy, proxy.client() as (reader, writer):
        writer.write(b"HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.readexactly(len(OK)) == OK


def _watched(pieces: "asyncio.Queue[bytes]") -> Callable[..., Awaitable[None]]:
    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while piece := await pieces.get():
            writer.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")

    return answer


WATCH = b"GET /api/v1/nodes?watch=1 HTTP/1.1\r\nHost: x\r\nUser-Agent: kubectl/v1\r\n\r\n"


async def test_each_event_of_a_watch_passes_when_it_comes_and_its_end_ends_the_request(
    tmp_path: Path,
) -> None:
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    async with proxied(tmp_path, _watched(pieces)) as proxy, proxy.client() as (reader, writer):
        writer.write(WATCH)
        for number in range(3):
            pieces.put_nowait(b"event %d\n" % number)
            await reader.readuntil(b"event %d\n" % number)
        pieces.put_nowait(b"")
        await reader.readuntil(b"0\r\n\r\n")
        writer.write(WATCH)
        pieces.put_nowait(b"again\n")
        await reader.readuntil(b"again\n")


async def test_a_watch_that_is_cut_ends_in_the_midst_and_others_go_on(tmp_path: Path) -> None:
    pieces: asyncio.Queue[bytes] = asyncio.Queue()
    nothing: asyncio.Queue[bytes] = asyncio.Queue()

    async def answer(head: bytes, *streams: Any) -> None:
        await _watched(nothing if b"kubectl" in head else pieces)(head, *streams)

    async with (
        proxied(tmp_path, answer) as proxy,
        proxy.client() as (cut, first),
        proxy.client() as (kept, second),
    ):
        first.write(WATCH)
        await cut.readuntil(b"\r\n\r\n")
        second.write(WATCH.replace(b"kubectl", b"other"))
        await kept.readuntil(b"\r\n\r\n")

        assert proxy.watches.cut(api_fault("watch-cut", userAgent="kubectl/*").matches) == 1
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await cut.readuntil(b"0\r\n\r\n")
        pieces.put_nowait(b"still there\n")
        await kept.readuntil(b"still there\n")


@pytest.mark.parametrize("more", [b"", b"Connection: Upgrade\r\n"])
async def test_what_is_upgraded_passes_both_ways(tmp_path: Path, more: bytes) -> None:
    async def answer(
        head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\n" + more)
        writer.write(b"Upgrade: SPDY/3.1\r\n\r\nhello")
        while data := await reader.read(100):
            writer.write(data.upper())

    async with proxied(tmp_path, answer) as proxy, proxy.client() as (reader, writer):
        words = "Connection: Upgrade\r\nUpgrade: SPDY/3.1"
        writer.write(f"POST /exec HTTP/1.1\r\nHost: x\r\n{words}\r\n\r\n".encode())
        await reader.readuntil(b"hello")
        writer.write(b"more\r\n\r\n")
        assert await reader.readexactly(8) == b"MORE\r\n\r\n"


async def test_a_refused_request_reaches_nobody_and_the_connection_stays(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy, proxy.client() as (reader, writer):
        proxy.faults = [api_fault("api-429", retryAfter="7s")]
        writer.write(b"POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody")
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
        body = json.loads(await reader.readexactly(length))
        proxy.faults = []
        writer.write(b"GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.readexactly(len(OK)) == OK

        assert head.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert b"Retry-After: 7\r\n" in head
        assert (body["kind"], body["reason"], body["code"]) == ("Status", "TooManyRequests", 429)
        assert len(proxy.heads) == 1


async def test_a_fault_hits_by_the_user_of_a_token_and_by_the_name_of_a_client(
    tmp_path: Path,
) -> None:
    async with proxied(tmp_path) as proxy:
        proxy.faults = [
            api_fault("api-5xx", user="system:kube-scheduler", userAgent="kube-scheduler/*")
        ]

        assert b" 503 " in (await proxy.ask(GET, TOKEN, AGENT)).partition(b"\r\n")[0]
        assert await proxy.ask(GET, AGENT) == OK
        assert await proxy.ask(GET, TOKEN) == OK


async def test_a_fault_of_a_user_hits_a_certificate_of_his(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        proxy.faults = [api_fault("api-5xx", user="client")]

        assert b" 503 " in await proxy.ask(GET, pair=certificates().client)
        assert await proxy.ask(GET) == OK


async def test_a_request_that_is_held_back_is_dropped_with_its_client(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        proxy.faults = [api_fault("api-latency", latency="1h")]
        async with proxy.client() as (_, writer):
            writer.write(f"{GET}\r\nHost: x\r\n\r\n".encode())
            while not proxy.faults[0].met:
                await asyncio.sleep(0)
        proxy.faults = []
        assert await proxy.ask(GET) == OK

        assert len(proxy.heads) == 1


@pytest.mark.parametrize(
    ("lines", "status", "is_known"),
    [
        ((), b"403", False),
        ((), b"200", False),
        ((TOKEN,), b"401", False),
        ((TOKEN,), b"403", True),
        ((TOKEN,), b"200", True),
        # Answered before anybody has looked at the token.
        ((TOKEN,), b"400", False),
        ((TOKEN,), b"503", False),
        # No tokens: the API server takes their clients for anonymous ones.
        (("Authorization: Basic eDp5",), b"200", False),
        (("Authorization: Bearer ",), b"200", False),
        (("Authorization: Bearer  secret",), b"200", False),
        (("Authorization: Basic eDp5", TOKEN), b"200", False),
    ],
)
async def test_only_who_has_shown_a_credential_has_the_limits_of_those_who_are_known(
    tmp_path: Path, lines: tuple[str, ...], status: bytes, is_known: bool
) -> None:
    await _check_known(tmp_path, GET, lines, status, is_known=is_known)


async def test_nobody_becomes_known_by_what_is_answered_to_anybody(tmp_path: Path) -> None:
    await _check_known(tmp_path, "OPTIONS * HTTP/1.1", (TOKEN,), b"200", is_known=False)


async def _check_known(
    folder: Path, first: str, lines: tuple[str, ...], status: bytes, *, is_known: bool
) -> None:
    """Check whether a client may send a long head after an answer with this status."""

    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK.replace(b"200", status))

    async with proxied(folder, answer) as proxy, proxy.client() as (reader, writer):
        writer.write("\r\n".join([first, "Host: x", *lines, "", ""]).encode())
        await reader.readexactly(len(OK))
        writer.write(f"{GET}\r\nHost: x\r\nX-Long: {'x' * 20_000}\r\n\r\n".encode())

        assert (b" 431 " in await reader.readuntil(b"\r\n")) is not is_known


@pytest.mark.parametrize("is_certified", [False, True])
async def test_strangers_do_not_cut_the_watches_of_those_who_are_known(
    tmp_path: Path, is_certified: bool
) -> None:
    event = asyncio.Event()

    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        await event.wait()
        writer.write(b"2\r\nok\r\n")

    pair = certificates().client if is_certified else None
    async with (
        proxied(tmp_path, answer) as proxy,
        proxy.client(pair) as (reader, writer),
        AsyncExitStack() as strangers,
    ):
        lines = () if is_certified else (TOKEN,)
        watch = "GET /api/v1/nodes?watch=1 HTTP/1.1"
        writer.write("\r\n".join([watch, "Host: x", *lines, "", ""]).encode())
        await reader.readuntil(b"\r\n\r\n")
        opened = [
            await strangers.enter_async_context(proxy.stranger()) for _ in range(MOST_STRANGERS + 1)
        ]
        assert await opened[0].read() == b""  # it makes room for the last one
        event.set()

        assert await reader.readuntil(b"ok\r\n") == b"2\r\nok\r\n"


async def test_where_the_api_server_does_not_answer_that_is_said(tmp_path: Path) -> None:
    async def answer(head: bytes, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.abort()

    async with proxied(tmp_path, answer) as proxy:
        with suppress(ConnectionError):
            assert await proxy.ask(GET) == b""


async def test_without_tls_nothing_is_passed_on(tmp_path: Path) -> None:
    async with proxied(tmp_path) as proxy:
        reader, writer = await asyncio.open_connection("127.0.0.1", proxy._port)
        writer.write(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()

        assert proxy.heads == []
