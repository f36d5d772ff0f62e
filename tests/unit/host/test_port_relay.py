""""""

import asyncio
import socket
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

import pytest

from kwokctl.errors import ConflictError
from kwokctl.host.port_relay import relaying


@asynccontextmanager
async def answering() -> AsyncIterator[int]:
    """Serve, on the port that is yielded, what was sent, in capitals, once all of it has come."""

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        with suppress(ConnectionError):
            writer.write((await reader.read()).upper())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


def unexpected(error: OSError) -> None:
    raise AssertionError(error)


async def asked(port: int, said: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(said)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_connections_are_carried_side_by_side_also_when_one_half_is_closed() -> None:
    large = b"x" * 3_000_000
    async with answering() as there:
        dial = partial(asyncio.open_connection, "127.0.0.1", there)
        async with relaying(0, dial, unexpected) as port:
            answers = await asyncio.gather(asked(port, b"one"), asked(port, large))
    assert [*answers] == [b"ONE", large.upper()]


async def test_a_connection_that_leads_nowhere_is_closed_and_the_next_one_accepted() -> None:
    failures: list[OSError] = []

    async def dial() -> tuple[StreamReader, StreamWriter]:
        raise ConnectionRefusedError

    async with relaying(0, dial, failures.append) as port:
        assert await asked(port, b"") == b""
        assert await asked(port, b"") == b""
    assert len(failures) == 2


async def test_open_connections_are_cut_in_the_end() -> None:
    async with answering() as there:
        dial = partial(asyncio.open_connection, "127.0.0.1", there)
        async with relaying(0, dial, unexpected) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"half")
            await writer.drain()
        with pytest.raises(ConnectionError):
            await reader.readexactly(1)
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)


async def test_a_local_port_that_is_taken_is_an_error_that_names_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(
            ConflictError, match=f"port {port}, wanted for 'port-forward'"
        ) as caught:
            async with relaying(port, asyncio.Event, unexpected):  # type: ignore[arg-type]  # never dialled
                pass
    assert "another local port" in str(caught.value.hint)
