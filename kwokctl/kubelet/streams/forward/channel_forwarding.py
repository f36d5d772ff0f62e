"""Port-forward over WebSocket without SPDY: two channels for each port that the client has listed."""

import asyncio

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.streams.connections.channels import FORMATS, Channels
from kwokctl.kubelet.streams.connections.websocket_connection import WebSocketConnection
from kwokctl.kubelet.streams.forward.forwarder import PodForwarder

PROTOCOLS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "")
_MOST = 100
"""Ports at a time: the numbers of channels have one byte."""


class ChannelForwarding:
    """One connection to each of some ports."""

    def __init__(
        self,
        socket: WebSocketConnection,
        protocol: str,
        ports: tuple[int, ...],
        forwarder: PodForwarder,
    ) -> None:
        """Use the channels 2 N for data and 2 N + 1 for errors of port N."""
        form = FORMATS[protocol]
        self.channels = Channels(socket, form, range(0, 2 * len(ports), 2))
        self._ports, self._forwarder = ports, forwarder

    async def serve(self) -> None:
        """Forward until all connections have ended."""
        async with asyncio.TaskGroup() as tasks:
            for index, port in enumerate(self._ports):
                tasks.create_task(self._serve_one(2 * index, port))

    async def _serve_one(self, channel: int, port: int) -> None:
        for number in (channel, channel + 1):
            await self.channels.send(number, port.to_bytes(2, "little"))
        problem = await self._forwarder.forward(port, _ChannelStream(self.channels, channel))
        self.channels.drop(channel)
        if problem:
            await self.channels.send(channel + 1, problem.encode())


class _ChannelStream:
    """A channel for data; there is no way to break off only this one."""

    def __init__(self, channels: Channels, number: int) -> None:
        self._channels, self._number = channels, number
        self.was_reset = asyncio.Event()

    async def read(self) -> bytes:
        return await self._channels.read(self._number)

    async def write(self, data: bytes) -> None:
        await self._channels.send(self._number, data)


def listed_ports(request: Request) -> tuple[int, ...]:
    """Return the ports that a client lists; RefusedError if there are none, or wrong ones."""
    words = [word for text in request.parameters("port") for word in text.split(",")]
    if not 0 < len(words) <= _MOST:
        raise RefusedError(400, "between 1 and 100 ports must be listed, as 'port=8080'")
    return tuple(map(_port, words))


def _port(word: str) -> int:
    is_port = word.isascii() and word.isdecimal() and len(word) < 6 and 0 < int(word) < 1 << 16
    if not is_port:
        raise RefusedError(400, f"'{word}' is not a port")
    return int(word)
