"""What the API server asks for by CONNECT: nodes are the server itself, the rest is dialled."""

import asyncio
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.messages import Answer, Request
from kwokctl.embedded.http.route_table import Route, RouteTable
from kwokctl.errors import UnavailableError
from kwokctl.kubelet.egress import EgressServer, egress_socket
from tests.support.kubelet_rig import client_tls, everybody, kubelet_tls
from tests.support.ports import free_port

KUBELET = 10250


async def tell(request: Request) -> Answer:
    return Answer(200, request.local_host.encode())


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[Path]:
    """Answer with the address that was requested."""
    tls = await asyncio.to_thread(kubelet_tls, folder)
    kubelet = HttpServer(RouteTable([Route(path="/at", answer=tell)]), everybody)
    egress = EgressServer(lambda found, at: kubelet.serve(found, tls, at), KUBELET)
    path = folder / "e.sock"
    listening = await asyncio.to_thread(egress_socket, path)
    async with asyncio.TaskGroup() as tasks:
        running = tasks.create_task(egress.run(listening))
        yield path
        running.cancel()


async def connected(
    path: Path, head: bytes
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter, bytes]:
    """Ask for a connection, and return it with the answer."""
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(head)
    return reader, writer, await reader.readuntil(b"\r\n\r\n")


async def status(path: Path, head: bytes) -> int:
    _, writer, answer = await connected(path, head)
    writer.close()
    return int(answer.split(b" ")[1])


@pytest.mark.parametrize("host", ["198.18.0.7", "[2001:db8::7]"])
@pytest.mark.parametrize("is_secret", [True, False])
async def test_a_node_answers_at_its_own_address(
    tmp_path: Path, host: str, is_secret: bool
) -> None:
    async with serving(tmp_path) as path:
        head = f"CONNECT {host}:{KUBELET} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        reader, writer, answer = await connected(path, head.encode())
        if is_secret:
            await writer.start_tls(client_tls(), server_hostname="localhost")
        writer.write(b"GET /at HTTP/1.1\r\nConnection: close\r\n\r\n")
        found = await reader.read()
        writer.close()

    assert answer == b"HTTP/1.1 200 OK\r\n\r\n"
    assert found.endswith(b"\r\n\r\n" + host.strip("[]").encode())


async def test_what_is_no_node_is_dialled_and_each_side_may_end_first(tmp_path: Path) -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    async with serving(tmp_path) as path, await asyncio.start_server(shout, "127.0.0.1", 0) as far:
        port = far.sockets[0].getsockname()[1]
        head = f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n"
        reader, writer, _ = await connected(path, head.encode())
        writer.write(b"hello" * 100_000)
        writer.write_eof()
        answer = await reader.read()
        writer.close()

    assert answer == b"HELLO" * 100_000


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT nowhere HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT a:99999 HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT a:10250 HTTP/1.1\r\n\r\nahead", 400),
        (b"CONNECT a:1 HTTP/1.1\r\nX: " + b"x" * 10_000, 431),
    ],
)
async def test_all_but_connect_is_refused(tmp_path: Path, head: bytes, expected: int) -> None:
    async with serving(tmp_path) as path:
        assert await status(path, head) == expected


async def test_an_address_without_a_listener_is_a_bad_gateway(tmp_path: Path) -> None:
    port = free_port()
    async with serving(tmp_path) as path:
        assert await status(path, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode()) == 502


def test_only_its_owner_may_dial_the_socket_and_a_former_one_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "e.sock"
    egress_socket(path).close()

    with egress_socket(path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(UnavailableError, match="cannot serve at"):
        egress_socket(tmp_path / "missing" / "e.sock")


async def test_a_client_that_goes_takes_the_far_connection_with_it(tmp_path: Path) -> None:
    gone = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        gone.set()
        writer.close()

    async with serving(tmp_path) as path, await asyncio.start_server(wait, "127.0.0.1", 0) as far:
        port = far.sockets[0].getsockname()[1]
        _, writer, _ = await connected(path, f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())
        writer.transport.abort()
        async with asyncio.timeout(30):
            await gone.wait()
