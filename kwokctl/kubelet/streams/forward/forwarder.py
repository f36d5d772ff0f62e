"""Forwards the ports of one pod, as documents say: carries each connection to its endpoint and back."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol

from kwokctl.host.children.child import Child, ChildOptions, running
from kwokctl.kubelet.documents.lookup import Lookup
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.streams.stream_documents import ForwardEntry, ForwardTarget
from kwokctl.tasks import beside

_PATIENCE = 10.0
"""Seconds in which a target must accept a connection."""
_PIECE_BYTES = 64 * 1024
_LONGEST_COMPLAINT = 1024


class ForwardError(Exception):
    """The target of a connection cannot be reached, or has failed."""


class ForwardEndpoint(Protocol):
    """The other end of a forwarded connection; every method raises ForwardError."""

    async def read(self) -> bytes:
        """Return what it sends; b"" at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Send data to it; it is dropped if the endpoint reads no more."""
        ...

    async def finish(self) -> None:
        """Let it find the end of what is sent to it."""
        ...


@asynccontextmanager
async def connected(entry: ForwardEntry, env: Mapping[str, str]) -> AsyncIterator[ForwardEndpoint]:
    """Connect to what an entry names; commands have the environment `env`."""
    if entry.command:
        options = ChildOptions(argv=entry.command, env=env, has_input=True)
        try:
            async with running(options) as child:
                endpoint = _CommandEndpoint(child)
                async with beside(endpoint.listen()):
                    yield endpoint
        except FileNotFoundError as e:
            raise ForwardError(f"there is no program '{entry.command[0]}'") from e
    elif entry.target is not None:
        reader, writer = await _dial(entry.target)
        try:
            yield _TcpEndpoint(reader, writer)
        finally:
            writer.transport.abort()


async def _dial(target: ForwardTarget) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    where = f"'{target.address}:{target.port}'"
    try:
        async with asyncio.timeout(_PATIENCE):
            return await asyncio.open_connection(target.address, target.port)
    except TimeoutError as e:
        raise ForwardError(f"{where} does not answer") from e
    except OSError as e:
        raise ForwardError(f"cannot connect to {where}, {_why(e)}") from e


def _why(error: OSError) -> str:
    # Of a call that failed asyncio tells the address again.
    return os.strerror(error.errno) if error.errno is not None and error.errno > 0 else str(error)


class _TcpEndpoint:
    """A connection to another program."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self) -> bytes:
        try:
            return await self._reader.read(_PIECE_BYTES)
        except OSError as e:
            raise ForwardError(f"the target broke the connection, {_why(e)}") from e

    async def write(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError:
            return  # what it has sent before may still be read

    async def finish(self) -> None:
        if not self._writer.is_closing():
            self._writer.write_eof()


class _CommandEndpoint:
    """A command that reads and writes the connection as its input and output."""

    def __init__(self, child: Child) -> None:
        self._child = child
        self._complaint = b""

    async def listen(self) -> None:
        """Keep the last of what the command says of errors."""
        while self._child.stderr is not None and (said := await self._child.stderr.read()):
            self._complaint = (self._complaint + said)[-_LONGEST_COMPLAINT:]

    async def read(self) -> bytes:
        if data := await self._child.stdout.read():
            return data
        if status := await self._child.wait():
            complaint = self._complaint.decode(errors="replace").strip()
            raise ForwardError(f"the command ended with status {status}, {complaint}")
        return b""

    async def write(self, data: bytes) -> None:
        if self._child.stdin is not None:
            await self._child.stdin.write(data)

    async def finish(self) -> None:
        if self._child.stdin is not None:
            self._child.stdin.close()


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
