"""Forwards the ports of one pod, as documents say: carries each connection to its endpoint and back."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.streams.forward.endpoints import ForwardEndpoint, ForwardError, connected
from kwokctl.kubelet.streams.stream_documents import ForwardEntry
from kwokctl.tasks import beside


class ForwardedStream(Protocol):
    """A connection that the client forwards."""

    @property
    def was_reset(self) -> asyncio.Event:
        """Set when the client has broken it off."""
        ...

    async def read(self) -> bytes:
        """Return what the client sends; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send data to the client; ConnectionError if it is gone."""
        ...


class _BrokenOffError(Exception):
    """The client wants this connection no more."""


async def relay(stream: ForwardedStream, entry: ForwardEntry, env: Mapping[str, str]) -> None:
    """Carry a connection until the endpoint ends it, or the client breaks it off.

    Raises ForwardError if the endpoint cannot be reached, or fails.
    """
    try:
        async with (
            beside(_until_reset(stream)),
            connected(entry, env) as endpoint,
            beside(_send(stream, endpoint)),
        ):
            while data := await endpoint.read():
                await stream.write(data)
    except _BrokenOffError:
        return


async def _send(stream: ForwardedStream, endpoint: ForwardEndpoint) -> None:
    while data := await stream.read():
        await endpoint.write(data)
    await endpoint.finish()


async def _until_reset(stream: ForwardedStream) -> None:
    await stream.was_reset.wait()
    raise _BrokenOffError


class PodForwarder:
    """Connects to the targets of a pod's ports."""

    def __init__(
        self, pod: PodView, forwards: Lookup[ForwardEntry], env: Mapping[str, str]
    ) -> None:
        """Look into `forwards`; commands have the environment `env`."""
        self._pod, self._forwards, self._env = pod, forwards, env

    async def forward(self, port: int, stream: ForwardedStream) -> str:
        """Carry a connection to its end; return what went wrong, empty if nothing did."""
        name = f"{self._pod.namespace}/{self._pod.name}"
        failure = f"error forwarding port {port} to pod {name}:"
        entry = self._forwards.find(self._pod, port)
        if entry is None:
            return f"{failure} no document of kind PortForward or ClusterPortForward names it"
        if entry.target is None and not entry.command:
            return f"{failure} the entry of 'forwards' for it has no 'target' and no 'command'"
        try:
            await relay(stream, entry, self._env)
        except ForwardError as e:
            return f"{failure} {e}"
        return ""
