"""A view of no cluster, served on a port: its page has one table, which a test changes."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from kwokctl.embedded.http.http_server import HttpServer
from kwokctl.embedded.http.listening import listening_sockets
from kwokctl.embedded.http.route_table import RouteTable
from kwokctl.measure.pages.page_data import PageData, PageVerdict, TableItem
from kwokctl.tasks import beside
from kwokctl.view.serving.board import Board
from kwokctl.view.serving.view_gate import COOKIE, ViewGate, ViewKeys
from kwokctl.view.serving.view_routes import EVENTS, ServedPage, view_routes

PAGE = b"<!doctype html>the page"


def table(text: str, name: str = "pods") -> TableItem:
    """Return an item with one cell."""
    return TableItem(id=name, title="", columns=(), rows=((text,),))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedView:
    """A view that is served."""

    port: int
    keys: ViewKeys
    board: Board
    server: HttpServer

    @property
    def cookie(self) -> str:
        """The header that a browser sends which was at the address."""
        return f"Cookie: {COOKIE}={self.keys.session}"

    @property
    def events_path(self) -> str:
        return f"{self.keys.page_path}{EVENTS}"

    async def ask(
        self, path: str, *headers: str, method: str = "GET", host: str = "127.0.0.1"
    ) -> tuple[int, str]:
        """Return the status and the text of an answer; `host` may be empty."""
        lines = [f"{method} {path} HTTP/1.1", *headers, "Connection: close"]
        lines += [f"Host: {host}:{self.port}"] if host else []
        return await self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")

    async def send(self, data: bytes) -> tuple[int, str]:
        """Send bytes, and return the status and the text of the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(data)
            answer = (await reader.read()).decode()
        finally:
            writer.close()
        head, _, body = answer.partition("\r\n\r\n")
        return int(head.split(" ", 2)[1]), f"{head}\n\n{body}"

    @asynccontextmanager
    async def following(self, headers: Sequence[str] = ()) -> AsyncIterator[asyncio.StreamReader]:
        """Yield the stream of events, behind its head, which says 200."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        lines = (
            f"GET {self.events_path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", self.cookie, *headers
        )  # fmt: skip
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            yield reader
        finally:
            writer.close()


@asynccontextmanager
async def served_view() -> AsyncIterator[ServedView]:
    """Serve a view meanwhile."""
    empty = PageData(kind="live", title="empty", verdict=PageVerdict(text="empty"))
    board, keys = Board(lambda: empty), ViewKeys.new()
    gate = ViewGate(keys)
    page = ServedPage(html=PAGE, policy="default-src 'none'")
    routes = view_routes(keys, gate, page, board.follow)
    server = HttpServer(RouteTable(routes), gate.admit)
    listening = listening_sockets(["127.0.0.1"], 0)
    port = listening[0].getsockname()[1]
    with listening[0]:
        async with asyncio.timeout(90), beside(server.run(listening, None)):
            yield ServedView(port=port, keys=keys, board=board, server=server)


async def event(reader: asyncio.StreamReader) -> str:
    """Return the next event of a stream, without the framing of chunks."""
    while True:
        found = await reader.readuntil(b"\n\n")
        _, is_one, rest = found.decode().partition("event: ")
        if is_one:
            return rest
