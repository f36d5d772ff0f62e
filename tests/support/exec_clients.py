"""Clients that run a command through the kubelet server, over SPDY and over WebSocket."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from kwokctl.json_value import Json
from tests.support.stream_peers import (
    SpdyPeer,
    WebSocketPeer,
    asking,
    exec_path,
    spdy_headers,
    status,
    websocket_headers,
)

V4, V5 = "v4.channel.k8s.io", "v5.channel.k8s.io"
STDIN, STDOUT, STDERR, ERROR, RESIZE = range(5)
SUCCESS = {"metadata": {}, "status": "Success"}


class SpdyCommand:
    """A command that runs for a client of SPDY."""

    def __init__(self, peer: SpdyPeer, streams: dict[str, int]) -> None:
        self.peer, self.streams = peer, streams

    async def ended(self) -> tuple[bytes, bytes, Json]:
        for stream in self.streams.values():
            if stream != self.streams.get("stdin"):
                await self.peer.until_end_of(stream)
        out, err, reported = (self.received(name) for name in ("stdout", "stderr", "error"))
        return out, err, status(reported)

    def received(self, name: str) -> bytes:
        return self.peer.received.get(self.streams.get(name, -1), b"")


@asynccontextmanager
async def spdy(
    port: int, command: Sequence[str], *names: str, tty: bool = False, protocol: str = V4
) -> AsyncIterator[SpdyCommand]:
    path = exec_path(command, *names, tty=tty)
    async with asking(port, path, spdy_headers(protocol), "POST") as wire:
        assert wire.status == 101, wire.body
        peer = SpdyPeer(wire)
        opened = ("error", *names, *(["resize"] if tty else []))
        yield SpdyCommand(peer, {name: await peer.open(streamtype=name) for name in opened})


@asynccontextmanager
async def websocket(
    port: int, command: Sequence[str], *names: str, tty: bool = False, protocol: str = V5
) -> AsyncIterator[WebSocketPeer]:
    path = exec_path(command, *names, tty=tty)
    async with asking(port, path, websocket_headers(protocol)) as wire:
        assert wire.status == 101, wire.body
        assert wire.headers["sec-websocket-protocol"] == protocol
        yield WebSocketPeer(wire)


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def exit_code(reported: Json) -> str:
    code: str = reported["details"]["causes"][0]["message"]
    return code
