"""Answers port-forward, over SPDY, SPDY within WebSocket, or WebSocket alone.

Over SPDY the client opens two streams for each connection, for data and for errors; over WebSocket alone there are
two channels for each port that the client has listed.
"""

import asyncio
import logging
from collections.abc import Mapping

from kwokctl.embedded.http.messages import RawStream, RefusedError, Request
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.streams.connections.channels import FORMATS, Channels
from kwokctl.kubelet.streams.connections.lifetime import while_connected
from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection, SpdyStream
from kwokctl.kubelet.streams.connections.upgrade import (
    is_websocket,
    offers,
    upgrade_to_spdy,
    upgrade_to_websocket,
)
from kwokctl.kubelet.streams.connections.websocket_connection import (
    WebSocketConnection,
    WebSocketTunnel,
)
from kwokctl.kubelet.streams.forward.forwarder import PodForwarder
from kwokctl.kubelet.streams.spdy.spdy_frames import ResetStatus
from kwokctl.kubelet.streams.stream_documents import ForwardEntry
from kwokctl.kubelet.streams.stream_targets import find_pod, pod_environment

CHANNEL_PROTOCOLS = ("v4.channel.k8s.io", "v4.base64.channel.k8s.io", "")
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


log = logging.getLogger(__name__)

SPDY_PROTOCOLS = ("portforward.k8s.io",)
_PATIENCE = 30.0
"""Seconds in which the second stream must follow the first; the kubelet's default."""


class _Request:
    """The streams of one connection."""

    def __init__(self) -> None:
        self.streams: dict[str, SpdyStream] = {}
        self.is_whole = asyncio.Event()


class SpdyForwarding:
    """The connections that one client forwards."""

    def __init__(self, connection: SpdyConnection, forwarder: PodForwarder) -> None:
        """Forward what comes over `connection`."""
        self._connection, self._forwarder = connection, forwarder
        self._requests: dict[str, _Request] = {}

    async def serve(self) -> None:
        """Forward until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            while True:
                stream = await self._connection.accept()
                kind = stream.headers.get("streamtype", "")
                if kind not in {"data", "error"} or _port_of(stream) is None:
                    await stream.reset(ResetStatus.PROTOCOL_ERROR)
                    continue
                key = _key(stream, kind)
                request = self._requests.get(key)
                if request is None:
                    request = self._requests[key] = _Request()
                    tasks.create_task(self._serve_one(key, request))
                await self._add(request, kind, stream)

    async def _add(self, request: _Request, kind: str, stream: SpdyStream) -> None:
        if kind in request.streams:
            await stream.reset(ResetStatus.STREAM_IN_USE)
            return
        request.streams[kind] = stream
        if len(request.streams) == 2:
            request.is_whole.set()

    async def _serve_one(self, key: str, request: _Request) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                await request.is_whole.wait()
        except TimeoutError:
            log.debug("a client has opened only one stream of a connection")
            for stream in request.streams.values():
                await stream.reset()
            return
        finally:
            del self._requests[key]
        await self._forward(request.streams["data"], request.streams["error"])

    async def _forward(self, data: SpdyStream, errors: SpdyStream) -> None:
        # Nothing is expected here, and nothing shall hold up the other streams.
        errors.inbox.drop()
        problem = await self._forwarder.forward(_port_of(data) or 0, data)
        if problem:
            await errors.write(problem.encode())
            await errors.end()
            await data.reset()
        else:
            await data.end()
            await errors.end()
            data.inbox.drop()


def _port_of(stream: SpdyStream) -> int | None:
    text = stream.headers.get("port", "")
    is_port = text.isascii() and text.isdecimal() and len(text) < 6 and 0 < int(text) < 1 << 16
    return int(text) if is_port else None


def _key(stream: SpdyStream, kind: str) -> str:
    """Return what the two streams of a connection have in common.

    Old clients give no number to it, and open the stream for errors before the one for data.
    """
    first = stream.number if kind == "error" else stream.number - 2
    return stream.headers.get("requestid") or f"stream {first}"


_TUNNEL = "SPDY/3.1+portforward.k8s.io"


class ForwardHandler:
    """Answers `/portForward/…`."""

    def __init__(
        self, fleet: PodFinder, forwards: Lookup[ForwardEntry], environment: Mapping[str, str]
    ) -> None:
        """Forward the ports of the pods of `fleet`; commands have our own `environment`."""
        self._fleet, self._forwards, self._environment = fleet, forwards, environment

    async def __call__(self, request: Request, raw: RawStream) -> None:
        """Take the connection over. Raises RefusedError if it cannot be upgraded."""
        pod = await find_pod(request, self._fleet)
        env = {**self._environment, **pod_environment(pod)}
        forwarder = PodForwarder(pod, self._forwards, env)
        if not is_websocket(request):
            connection, _ = await upgrade_to_spdy(request, raw, SPDY_PROTOCOLS)
            await _forward(connection, forwarder)
        elif offers(request, _TUNNEL):
            socket, _ = await upgrade_to_websocket(request, raw, (_TUNNEL,))
            tunnel = WebSocketTunnel(socket)
            await _forward(SpdyConnection(tunnel), forwarder)
            await tunnel.close()
        else:
            await _forward_listed(request, raw, forwarder)


async def _forward(connection: SpdyConnection, forwarder: PodForwarder) -> None:
    await while_connected(connection, SpdyForwarding(connection, forwarder).serve)


async def _forward_listed(request: Request, raw: RawStream, forwarder: PodForwarder) -> None:
    ports = listed_ports(request)
    socket, protocol = await upgrade_to_websocket(request, raw, CHANNEL_PROTOCOLS)
    forwarding = ChannelForwarding(socket, protocol, ports, forwarder)
    await while_connected(forwarding.channels, forwarding.serve)
