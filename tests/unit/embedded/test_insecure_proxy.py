"""The port without credentials: bytes in, bytes out, with the administrator's certificate between."""

import asyncio
import ssl
from pathlib import Path

import pytest

from kwokctl.embedded.insecure_proxy import Relay, client_tls, parser
from kwokctl.errors import UsageError
from tests.support.certificates import certificates

ANSWER = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.fixture
def tls(tmp_path: Path) -> ssl.SSLContext:
    made = certificates()
    for name, content in (("ca", made.ca), ("crt", made.client.cert), ("key", made.client.key)):
        (tmp_path / name).write_bytes(content)
    return client_tls(tmp_path / "ca", tmp_path / "crt", tmp_path / "key")


async def test_a_connection_reaches_the_server_with_the_certificate_and_both_ways(
    tls: ssl.SSLContext,
) -> None:
    heard: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(ANSWER)
        await writer.drain()
        heard.append(await reader.readexactly(4))
        writer.close()

    context = certificates().server_context(demand_client=True)
    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    proxy = await asyncio.start_server(_relay(server, tls).serve, "127.0.0.1", 0)
    async with server, proxy:
        reader, writer = await asyncio.open_connection(*proxy.sockets[0].getsockname())
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        assert await reader.readexactly(len(ANSWER)) == ANSWER
        writer.write(b"more")
        assert await reader.read() == b""
        writer.close()

    assert heard == [b"GET / HTTP/1.1\r\n\r\n", b"more"]


async def test_without_a_server_the_connection_is_closed(
    tls: ssl.SSLContext, caplog: pytest.LogCaptureFixture
) -> None:
    server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    relay = _relay(server, tls)
    server.close()
    await server.wait_closed()
    proxy = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    async with proxy:
        reader, writer = await asyncio.open_connection(*proxy.sockets[0].getsockname())
        assert await reader.read() == b""
        writer.close()

    assert "the API server does not answer" in caplog.text


def test_flags_that_are_missing_are_named() -> None:
    with pytest.raises(UsageError, match="--ca-file"):
        parser().parse_args(["--listen-address", ":1", "--server-address", ":2"])


def _relay(server: asyncio.Server, tls: ssl.SSLContext) -> Relay:
    return Relay(server.sockets[0].getsockname(), tls)
