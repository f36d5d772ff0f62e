"""Answers port-forward, over SPDY, SPDY within WebSocket, or WebSocket alone."""

from collections.abc import Mapping

from kwokctl.embedded.http.messages import RawStream, Request
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodFinder
from kwokctl.kubelet.streams.connections.lifetime import while_connected
from kwokctl.kubelet.streams.connections.spdy_connection import SpdyConnection
from kwokctl.kubelet.streams.connections.tunnel import WebSocketTunnel
from kwokctl.kubelet.streams.connections.upgrade import (
    is_websocket,
    offers,
    upgrade_to_spdy,
    upgrade_to_websocket,
)
from kwokctl.kubelet.streams.forward import channel_forwarding, spdy_forwarding
from kwokctl.kubelet.streams.forward.channel_forwarding import ChannelForwarding, listed_ports
from kwokctl.kubelet.streams.forward.documents import ForwardEntry
from kwokctl.kubelet.streams.forward.forwarder import PodForwarder
from kwokctl.kubelet.streams.forward.spdy_forwarding import SpdyForwarding
from kwokctl.kubelet.streams.targets import find_pod, pod_environment

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
            connection, _ = await upgrade_to_spdy(request, raw, spdy_forwarding.PROTOCOLS)
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
    socket, protocol = await upgrade_to_websocket(request, raw, channel_forwarding.PROTOCOLS)
    forwarding = ChannelForwarding(socket, protocol, ports, forwarder)
    await while_connected(forwarding.channels, forwarding.serve)
