"""What clients may ask that have not shown a credential."""

import asyncio
import socket
import ssl
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from kwokctl.embedded.http import strangers
from kwokctl.embedded.http.client_limits import MANY_STRANGERS
from kwokctl.embedded.http.http_server import Certificate, HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.messages import (
    Answer,
    RefusedError,
    Request,
)
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.tasks import beside, new_event_loop
from tests.support.certificates import certificates
from tests.support.eventually import eventually
from tests.support.hello import HELLO, hello
from tests.support.kubelet_rig import client_tls, everybody, serving_kubelet

OWNER, OTHER = 1000, 1001
_ENDLESS = 32 * 1024 * 1024
"""Bytes that are more than a server receives in vain: the kernel's buffers hold some megabytes."""
_LINES = b"a: b\r\n" * 10_000


async def test_strangers_that_stay_silent_make_room_for_others(tmp_path: Path) -> None:
    async with serving_kubelet([HELLO], tmp_path) as at:
        silent = [await at.connect() for _ in range(520)]
        assert await at.status("GET /hello/a HTTP/1.1") == 200
        await eventually(lambda: at.server.connections <= 501)
        for _, writer in silent:
            writer.close()
        await eventually(lambda: at.server.connections == 0)


def has_more(server: HttpServer, number: int) -> bool:
    return server.connections > number


async def test_of_many_strangers_those_of_other_users_are_closed_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other_ports: set[int] = set()

    def user(connection: socket.socket) -> int:
        return OTHER if connection.getpeername()[1] in other_ports else OWNER

    monkeypatch.setattr(strangers, "user_of_peer", user)
    server = HttpServer(RouteTable([HELLO]), everybody, owner=OWNER)
    listening = listening_sockets(["127.0.0.1"], 0)
    port = listening[0].getsockname()[1]
    async with asyncio.timeout(120), beside(server.run(listening, None)):
        silent = []
        for number in range(MANY_STRANGERS + 1):
            silent.append(await asyncio.open_connection("127.0.0.1", port))
            await eventually(partial(has_more, server, number))
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other_ports.add(other.getsockname()[1])
            other.setblocking(False)
            await asyncio.get_running_loop().sock_connect(other, ("127.0.0.1", port))
            assert await asyncio.get_running_loop().sock_recv(other, 1) == b""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /hello/a HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert b"hello /hello/a" in await reader.read()
        assert server.connections > MANY_STRANGERS
        for _, each in [*silent, (reader, writer)]:
            each.close()


UNKNOWN = Route(path="/open", answer=hello, is_open=True)


async def only_ours(request: Request, certificate: Certificate) -> None:
    """Admit those who show the word, or a certificate."""
    if request.header("word") != "ours" and not certificate:
        raise RefusedError(401, "who are you")


async def test_a_body_is_read_for_those_who_may_ask_and_the_connection_is_kept(
    tmp_path: Path,
) -> None:
    async def echo(request: Request) -> Answer:
        return Answer(200, request.body + b"!")

    route = Route(path="/echo", answer=echo, methods=frozenset({"POST"}))
    head = b"POST /echo HTTP/1.1\r\nWord: ours\r\n"
    async with serving_kubelet([route], tmp_path, only_ours) as at:
        reader, writer = await at.connect()
        writer.write(head + b"Content-Length: 50000\r\n\r\n" + b"z" * 50_000)
        first = await reader.readuntil(b"z!")
        writer.write(head + b"Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n")
        rest = await reader.read()
        writer.close()

    assert first.count(b"z") == 50_000
    assert rest.endswith(b"ab!")


@pytest.mark.parametrize(
    "header", ["Content-Length: 900000", "Transfer-Encoding: chunked", "Content-Length: 99999999"]
)
@pytest.mark.parametrize("path", ["/hello/a", "/unknown", "/open"])
async def test_a_body_is_not_read_for_strangers(tmp_path: Path, header: str, path: str) -> None:
    """The answer comes though the body never does, and is the last of the connection."""
    async with serving_kubelet([HELLO, UNKNOWN], tmp_path, only_ours) as at:
        reader, writer = await at.connect()
        writer.write(f"GET {path} HTTP/1.1\r\n{header}\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()

    assert answer.split(b" ")[1] == (b"200" if path == "/open" else b"401")
    assert b"\r\nConnection: close\r\n" in answer


@pytest.mark.parametrize("is_secret", [False, True])
async def test_an_answer_is_not_lost_to_a_client_that_still_sends(
    tmp_path: Path, is_secret: bool
) -> None:
    async with serving_kubelet([HELLO], tmp_path, only_ours) as at:
        reader, writer = await at.connect(client_tls() if is_secret else None)
        writer.write(b"POST /hello/a HTTP/1.1\r\nContent-Length: 200000\r\n\r\n")
        answer = await reader.readuntil(b"who are you\n")
        for _ in range(20):
            writer.write(b"x" * 10_000)
            await asyncio.sleep(0)
        rest = await reader.read()
        writer.close()

    assert answer.split(b" ")[1] == b"401"
    assert rest == b""


def sent_to(port: int, tls: ssl.SSLContext | None) -> int:
    """Send without end, and read nothing, not even the end of TLS; return how many bytes went before the server was gone."""
    sent = 0
    with socket.create_connection(("127.0.0.1", port)) as plain:
        made = tls.wrap_socket(plain, server_hostname="127.0.0.1") if tls else plain
        with made, suppress(OSError):
            while sent < _ENDLESS:
                made.sendall(_LINES)
                sent += len(_LINES)
    return sent


@pytest.mark.parametrize("is_secret", [False, True])
def test_little_is_received_of_a_client_that_sends_without_end(
    tmp_path: Path, is_secret: bool
) -> None:
    async def received() -> int:
        async with serving_kubelet([HELLO], tmp_path, only_ours) as at:
            return await asyncio.to_thread(sent_to, at.port, client_tls() if is_secret else None)

    # The end of TLS is left to the loop: this is the one of kwokctl's servers.
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        assert runner.run(received()) < _ENDLESS


async def test_a_head_is_as_long_as_its_client_may_send(tmp_path: Path) -> None:
    long, short = f"GET /hello/{'a' * 300_000} HTTP/1.1", "GET /hello/a HTTP/1.1"
    async with serving_kubelet([HELLO], tmp_path, only_ours) as at:
        assert await at.status(long, "Word: ours") == 431
        assert await at.status(long, tls=client_tls(certificates().client)) == 200
        assert (
            await at.status(f"GET /{'a' * 600_000}", tls=client_tls(certificates().client)) == 431
        )
        reader, writer = await at.connect()
        for line in (short, long):
            writer.write(f"{line}\r\nWord: ours\r\n\r\n".encode())
            assert b" 200 " in await reader.readuntil(b"hello /hello/a")
        writer.close()
