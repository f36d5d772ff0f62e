"""Exec and port-forward with the libraries of the API server and kubectl, where Go has their modules."""

import asyncio
import os
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

from tests.support import go_programs
from tests.support.stream_peers import exec_path
from tests.support.stream_server import serving

SPDY, V5, V4 = "spdy", "websocket", "v4"

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the client, built from the modules in Go's cache; the first time takes minutes."""
    return go_programs.built("stream_client", tmp_path_factory.mktemp("client"))


async def run(client: Path, carrier: str, url: str, given: bytes = b"") -> tuple[int, bytes, bytes]:
    process = await asyncio.create_subprocess_exec(
        client, "exec", carrier, url, stdin=PIPE, stdout=PIPE, stderr=PIPE
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate(given)
    assert process.returncode is not None
    return process.returncode, out, err


def url(port: int, script: str, *streams: str, tty: bool = False) -> str:
    return f"http://127.0.0.1:{port}{exec_path(['sh', '-c', script], *streams, tty=tty)}"


@pytest.mark.parametrize("carrier", [SPDY, V5, V4])
async def test_output_errors_and_exit_code_arrive(client: Path, carrier: str) -> None:
    async with serving() as port:
        target = url(port, "echo out; echo err >&2; exit 7", "stdout", "stderr")

        assert await run(client, carrier, target) == (7, b"out\n", b"err\n")


@pytest.mark.parametrize("carrier", [SPDY, V5])
async def test_megabytes_and_their_end_pass_both_ways(client: Path, carrier: str) -> None:
    data = os.urandom(3_000_000)
    async with serving() as port:
        assert await run(client, carrier, url(port, "cat", "stdin", "stdout"), data) == (
            0,
            data,
            b"",
        )


@pytest.mark.parametrize("carrier", [SPDY, V5])
async def test_a_command_that_reads_no_more_ends_well(client: Path, carrier: str) -> None:
    async with serving() as port:
        target = url(port, "head -c 3", "stdin", "stdout")

        assert (await run(client, carrier, target, b"abc" * 300_000))[:2] == (0, b"abc")


@pytest.mark.parametrize("carrier", [SPDY, V5, V4])
async def test_a_terminal_has_the_size_of_the_client(client: Path, carrier: str) -> None:
    script = "while [ $(stty size | cut -c1) = 0 ]; do sleep 0.01; done; stty size"
    async with serving() as port:
        target = url(port, script, "stdin", "stdout", tty=True)

        assert (await run(client, carrier, target))[:2] == (0, b"43 132\r\n")


@pytest.mark.parametrize("carrier", [SPDY, V5])
async def test_a_refusal_is_shown(client: Path, carrier: str) -> None:
    async with serving("") as port:
        code, _, err = await run(client, carrier, url(port, "true", "stdout"))

    assert code == 255
    assert b"no document of kind Exec or ClusterExec allows commands" in err


@pytest.mark.parametrize("carrier", [SPDY, V5])
async def test_connections_are_forwarded(client: Path, carrier: str) -> None:
    async with asyncio.timeout(60), await asyncio.start_server(_echo, "127.0.0.1", 0) as target:
        document = f"""
kind: ClusterPortForward
metadata: {{name: all}}
spec:
  forwards:
  - {{ports: [80], target: {{address: 127.0.0.1, port: {_port(target)}}}}}
"""
        async with serving(document) as port:
            path = f"http://127.0.0.1:{port}/portForward/default/web"
            process = await asyncio.create_subprocess_exec(
                client, "forward", carrier, path, "80", stdin=PIPE, stdout=PIPE
            )
            assert process.stdout is not None
            local = int(await process.stdout.readline())
            sent = [os.urandom(300_000) for _ in range(10)]
            received = await asyncio.gather(*(_sent_and_received(local, each) for each in sent))
            await process.communicate(b"")

    assert received == sent


def _port(server: asyncio.Server) -> int:
    port: int = server.sockets[0].getsockname()[1]
    return port


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()


async def _sent_and_received(port: int, data: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def send() -> None:
        writer.write(data)
        await writer.drain()
        writer.write_eof()

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(send())
        received = await reader.read(-1)
    writer.close()
    return received
