import asyncio
import os
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from tests.support import spdy_client
from tests.support.eventually import eventually
from tests.support.stream_peers import (
    SpdyPeer,
    Upgraded,
    WebSocketPeer,
    asking,
    spdy_headers,
    websocket_headers,
)
from tests.support.stream_server import serving

PATH = "/portForward/default/web"
SPDY, TUNNEL = "portforward.k8s.io", "SPDY/3.1+portforward.k8s.io"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Tunnel(Upgraded):
    """SPDY within messages of WebSocket."""

    def __init__(self, wire: Upgraded) -> None:
        super().__init__(wire.reader, wire.writer, wire.status, wire.headers)
        self.peer = WebSocketPeer(wire)

    async def send(self, *data: bytes) -> None:
        for each in data:  # where messages end means nothing
            await self.peer.send(each[:5], fin=False)
            await self.peer.go_on(each[5:])

    async def read(self) -> bytes:
        self.peer.whole.clear()
        while not self.peer.whole:
            if not await self.peer.more():
                return b""
        return b"".join(self.peer.whole)


@asynccontextmanager
async def forwarding(port: int, *, within_websocket: bool) -> AsyncIterator[SpdyPeer]:
    headers = websocket_headers(TUNNEL) if within_websocket else spdy_headers(SPDY)
    async with asking(port, PATH, headers, "GET" if within_websocket else "POST") as wire:
        assert wire.status == 101, wire.body
        if within_websocket:
            assert wire.headers["sec-websocket-protocol"] == TUNNEL
        yield SpdyPeer(Tunnel(wire) if within_websocket else wire)


class Connection:
    """A connection that a client forwards."""

    def __init__(self, peer: SpdyPeer, error: int, data: int) -> None:
        self.peer, self.error, self.data = peer, error, data

    async def ended(self) -> tuple[bytes, str]:
        problem = await self.peer.until_end_of(self.error)
        return await self.peer.until_end_of(self.data), problem.decode()


async def connect(peer: SpdyPeer, port: int, request: str = "0") -> Connection:
    error = await peer.open(streamtype="error", port=str(port), requestid=request)
    data = await peer.open(streamtype="data", port=str(port), requestid=request)
    return Connection(peer, error, data)


class Target:
    """A program that forwarded connections lead to."""

    def __init__(self) -> None:
        self.connections, self.broken_off = 0, 0

    async def echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
            writer.write_eof()
        except ConnectionError:
            self.broken_off += 1
        writer.close()

    async def endless(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                writer.write(bytes(65536))
                await writer.drain()
        except ConnectionError:
            self.broken_off += 1

    async def silent(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(ConnectionError):
            await reader.read()
        self.broken_off += 1
        writer.close()

    async def reset(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        at_once = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.transport.abort()


@asynccontextmanager
async def listening(talk: Talk) -> AsyncIterator[int]:
    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def forwarded(talk: Talk) -> AsyncIterator[int]:
    """Serve a pod whose port 80 leads to a target; yields the port of the server."""
    async with listening(talk) as port:
        document = f"""
kind: PortForward
metadata: {{name: web}}
spec: {{forwards: [{{ports: [80], target: {{address: 127.0.0.1, port: {port}}}}}]}}
"""
        async with serving(document) as found:
            yield found


BOTH = pytest.mark.parametrize("within_websocket", [False, True])


@BOTH
async def test_a_connection_is_carried_to_its_target_and_back(within_websocket: bool) -> None:
    async with (
        forwarded(Target().echo) as port,
        forwarding(port, within_websocket=within_websocket) as peer,
    ):
        connection = await connect(peer, 80)
        await peer.send(connection.data, b"hello")
        await peer.end(connection.data)

        assert await connection.ended() == (b"hello", "")
        assert peer.accepted == {connection.error, connection.data}


@BOTH
async def test_megabytes_pass_both_ways(within_websocket: bool) -> None:
    data = os.urandom(2_000_000)
    async with (
        forwarded(Target().echo) as port,
        forwarding(port, within_websocket=within_websocket) as peer,
    ):
        connection = await connect(peer, 80)

        async def send() -> None:
            for begin in range(0, len(data), 50_000):
                await peer.send(connection.data, data[begin : begin + 50_000])
            await peer.end(connection.data)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(send())
            carried, problem = await connection.ended()

    assert carried == data
    assert problem == ""


@BOTH
async def test_many_connections_share_one(within_websocket: bool) -> None:
    target = Target()
    async with (
        forwarded(target.echo) as port,
        forwarding(port, within_websocket=within_websocket) as peer,
    ):
        connections = [await connect(peer, 80, str(number)) for number in range(50)]
        for number, each in enumerate(connections):
            await peer.send(each.data, b"%d" % number)
            await peer.end(each.data)
        answers = [(await each.ended())[0] for each in connections]

    assert answers == [b"%d" % number for number in range(50)]
    assert target.connections == 50


@BOTH
async def test_connections_that_are_broken_off_are_broken_off_at_the_target(
    within_websocket: bool,
) -> None:
    target = Target()
    async with (
        forwarded(target.endless) as port,
        forwarding(port, within_websocket=within_websocket) as peer,
    ):
        connection = await connect(peer, 80)
        await peer.until(connection.data, bytes(100_000))
        await peer.wire.send(spdy_client.reset(connection.data))
        await eventually(lambda: target.broken_off == 1)


async def test_all_ends_with_the_client() -> None:
    target = Target()
    async with forwarded(target.silent) as port:
        async with forwarding(port, within_websocket=False) as peer:
            for number in range(5):
                await connect(peer, 80, str(number))
            await eventually(lambda: target.connections == 5)
        await eventually(lambda: target.broken_off == 5)


async def test_a_target_that_does_not_listen_is_told(free_port: int) -> None:
    document = f"""
kind: ClusterPortForward
metadata: {{name: all}}
spec: {{forwards: [{{target: {{address: 127.0.0.1, port: {free_port}}}}}]}}
"""
    async with serving(document) as port, forwarding(port, within_websocket=False) as peer:
        connection = await connect(peer, 8080)
        _, problem = await connection.ended()

    assert problem == (
        "error forwarding port 8080 to pod default/web: "
        f"cannot connect to '127.0.0.1:{free_port}', Connection refused"
    )
    assert connection.data in peer.was_reset


@pytest.fixture
async def free_port() -> int:
    async with listening(Target().silent) as port:
        return port


async def test_a_target_that_breaks_the_connection_is_told() -> None:
    async with (
        forwarded(Target().reset) as port,
        forwarding(port, within_websocket=False) as peer,
    ):
        connection = await connect(peer, 80)
        await peer.send(connection.data, b"12")
        _, problem = await connection.ended()

    assert "the target broke the connection" in problem


async def test_a_port_that_no_document_names_is_told() -> None:
    async with (
        forwarded(Target().echo) as port,
        forwarding(port, within_websocket=False) as peer,
    ):
        _, problem = await (await connect(peer, 81)).ended()

    assert problem.endswith("no document of kind PortForward or ClusterPortForward names it")


async def test_an_entry_that_leads_nowhere_is_told_when_it_is_used() -> None:
    document = "kind: ClusterPortForward\nmetadata: {name: any}\nspec: {forwards: [{}]}\n"
    async with serving(document) as port, forwarding(port, within_websocket=False) as peer:
        _, problem = await (await connect(peer, 80)).ended()

    assert problem.endswith("the entry of 'forwards' for it has no 'target' and no 'command'")


COMMANDS = """
kind: ClusterPortForward
metadata: {name: all}
spec:
  forwards:
  - ports: [1]
    command: [sh, -c, 'tr a-z A-Z; echo "$POD_NAMESPACE/$POD_NAME"']
    target: {address: 127.0.0.1, port: 1}
  - {ports: [2], command: [sh, -c, 'echo first; echo oh no >&2; exit 3']}
  - {ports: [3], command: [no-such-program]}
"""


async def test_a_command_reads_and_writes_the_connection() -> None:
    async with serving(COMMANDS) as port, forwarding(port, within_websocket=False) as peer:
        connection = await connect(peer, 1)
        await peer.send(connection.data, b"hello ")
        await peer.end(connection.data)

        assert await connection.ended() == (b"HELLO default/web\n", "")


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        (2, "the command ended with status 3, oh no"),
        (3, "there is no program 'no-such-program'"),
    ],
)
async def test_a_command_that_fails_is_told(wanted: int, problem: str) -> None:
    async with serving(COMMANDS) as port, forwarding(port, within_websocket=False) as peer:
        _, reported = await (await connect(peer, wanted)).ended()

    assert reported == f"error forwarding port {wanted} to pod default/web: {problem}"


async def test_old_clients_number_no_requests() -> None:
    async with (
        forwarded(Target().echo) as port,
        forwarding(port, within_websocket=False) as peer,
    ):
        error = await peer.open(streamtype="error", port="80")
        data = await peer.open(streamtype="data", port="80")
        await peer.send(data, b"hello")
        await peer.end(data)

        assert await Connection(peer, error, data).ended() == (b"hello", "")


@pytest.mark.parametrize(
    "headers",
    [
        {"streamtype": "sound", "port": "80"},
        {"streamtype": "data"},
        {"streamtype": "data", "port": "0"},
        {"streamtype": "data", "port": "65536"},
        {"streamtype": "data", "port": "http"},
    ],
)
async def test_a_stream_for_nothing_is_reset(headers: dict[str, str]) -> None:
    async with serving() as port, forwarding(port, within_websocket=False) as peer:
        stream = await peer.open(**headers)
        await peer.until_end_of(stream)

        assert stream in peer.was_reset


async def test_a_second_stream_of_a_kind_is_reset() -> None:
    async with serving() as port, forwarding(port, within_websocket=False) as peer:
        await peer.open(streamtype="data", port="80", requestid="0")
        second = await peer.open(streamtype="data", port="80", requestid="0")
        await peer.until_end_of(second)

        assert peer.was_reset == {second}


async def test_ports_may_have_channels_of_their_own() -> None:
    async with forwarded(Target().echo) as port:
        path = f"{PATH}?port=80,81&port=80"
        async with asking(port, path, websocket_headers("v4.channel.k8s.io")) as wire:
            peer = WebSocketPeer(wire)
            await peer.send(b"\0one")
            await peer.send(b"\4two")
            await peer.until(0, b"one")
            await peer.until(3, b"names it")
            await peer.until(4, b"two")

    numbers = [peer.received[channel][:2] for channel in range(6)]
    assert numbers == [b"P\0", b"P\0", b"Q\0", b"Q\0", b"P\0", b"P\0"]


@pytest.mark.parametrize("query", ["", "?port=", "?port=0", "?port=80,x", "?port=99999"])
async def test_channels_need_ports(query: str) -> None:
    async with (
        serving() as port,
        asking(port, PATH + query, websocket_headers("v4.channel.k8s.io")) as wire,
    ):
        assert wire.status == 400


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/portForward/default/web/u-1", 101),
        ("/portForward/default/web/another-uid", 404),
        ("/portForward/default/other", 404),
        ("/portForward/default", 404),
    ],
)
async def test_the_path_names_a_pod(path: str, code: int) -> None:
    async with serving() as port, asking(port, path, spdy_headers(SPDY)) as wire:
        assert wire.status == code
