"""Carries one forwarded connection to its endpoint and back."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from kwokctl.kubelet.streams.forward.documents import ForwardEntry
from kwokctl.kubelet.streams.forward.endpoints import ForwardEndpoint, connected
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
