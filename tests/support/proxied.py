"""An API server of a test behind the proxy, both in this process, and a client that writes bytes."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from kwokctl.api_proxy.api_fault import ApiFault
from kwokctl.api_proxy.client_identity import Tokens
from kwokctl.api_proxy.open_watches import OpenWatches
from kwokctl.api_proxy.proxy_server import ApiServer, ProxyServer
from kwokctl.embedded.http.listening import listening_sockets, server_tls
from kwokctl.kube.transport.dial import ServerAddress, tls_context
from tests.support.certificates import Certificates, Pair, certificates

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Answer = Callable[[bytes, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
"""Answers one request; it gets the head."""


async def ok(head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer `ok`."""
    writer.write(OK)


class Proxied:
    """The proxy, and what has reached the API server behind it."""

    def __init__(self, port: int, made: Certificates) -> None:
        """Dial the proxy at `port`."""
        self._port = port
        self._made = made
        self.heads: list[bytes] = []
        """The heads that the API server has received."""
        self.shown: list[bool] = []
        """Whether each connection to the API server showed the certificate of the front proxy."""
        self.faults: list[ApiFault] = []
        self.watches = OpenWatches()

    @asynccontextmanager
    async def client(
        self, pair: Pair | None = None
    ) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect, with a certificate or without one."""
        tls = tls_context(
            ca=self._made.ca, cert=pair.cert if pair else None, key=pair.key if pair else None
        )
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, ssl=tls)
        try:
            yield reader, writer
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    @asynccontextmanager
    async def stranger(self) -> AsyncIterator[asyncio.StreamReader]:
        """Connect, and say nothing."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        try:
            yield reader
        finally:
            writer.close()

    async def ask(self, *lines: str, pair: Pair | None = None, body: bytes = b"") -> bytes:
        """Send one request and return everything up to the end of the connection."""
        async with self.client(pair) as (reader, writer):
            head = "\r\n".join([lines[0], "Host: x", "Connection: close", *lines[1:], "", ""])
            writer.write(head.encode("latin-1") + body)
            return await reader.read()


@asynccontextmanager
async def proxied(folder: Path, answer: Answer = ok) -> AsyncIterator[Proxied]:
    """Run both; the API server answers with `answer`, and takes tokens and certificates for what they are."""
    made = certificates()
    for name, content in (
        ("ca", made.ca), ("crt", made.server.cert), ("key", made.server.key),
    ):  # fmt: skip
        (folder / name).write_bytes(content)
    tls = server_tls(folder / "crt", folder / "key", folder / "ca")
    (listening,) = listening_sockets(["127.0.0.1"], 0)
    found = Proxied(listening.getsockname()[1], made)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.shown.append(bool(writer.get_extra_info("peercert")))
        with suppress(asyncio.IncompleteReadError, OSError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                found.heads.append(head)
                await answer(head, reader, writer)
                await writer.drain()

    behind = made.server_context()
    behind.verify_mode = ssl.CERT_OPTIONAL
    behind.load_verify_locations(cadata=made.ca.decode())
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=behind)
    address = ServerAddress.of(
        f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}", None, None
    )
    proxy = ProxyServer(
        ApiServer(
            address,
            as_front_proxy=tls_context(ca=made.ca, cert=made.client.cert, key=made.client.key),
            as_nobody=tls_context(ca=made.ca, cert=None, key=None),
        ),
        Tokens({"secret": "system:kube-scheduler"}),
        lambda: found.faults,
        found.watches,
    )
    running = asyncio.get_running_loop().create_task(proxy.run([listening], tls))
    try:
        yield found
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        server.close()
