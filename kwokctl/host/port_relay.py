"""Relays TCP connections from a port of this host's loopback address to another address."""

import asyncio
import errno
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

from kwokctl.errors import ConflictError, UnavailableError
from kwokctl.host.ports import LOOPBACK, in_use
from kwokctl.tasks import first_failure

_BLOCK = 1 << 16
Dial = Callable[[], Awaitable[tuple[StreamReader, StreamWriter]]]
"""Opens a connection to where a relay leads."""


@asynccontextmanager
async def relaying(port: int, dial: Dial, failed: Callable[[OSError], None]) -> AsyncIterator[int]:
    """Relay connections while inside; yields the port, which is a free one if `port` is 0.

    `failed` is called when a connection leads nowhere: that one is closed, and others are still
    accepted. Connections that are open in the end are cut.
    """
    open_ones: set[asyncio.Task[None]] = set()
    try:
        async with asyncio.TaskGroup() as carriers:

            def accept(reader: StreamReader, writer: StreamWriter) -> None:
                carrier = carriers.create_task(_carry(reader, writer, dial, failed))
                open_ones.add(carrier)
                carrier.add_done_callback(open_ones.discard)

            server = await _listening(port, accept)
            try:
                yield server.sockets[0].getsockname()[1]
            finally:
                server.close()
                for carrier in open_ones:
                    carrier.cancel()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


async def _listening(
    port: int, accept: Callable[[StreamReader, StreamWriter], None]
) -> asyncio.Server:
    try:
        return await asyncio.start_server(accept, LOOPBACK, port)
    except OSError as e:
        if e.errno == errno.EADDRINUSE:
            raise ConflictError(
                str(in_use("port-forward", port)),
                hint="end the program that uses it, or give another local port; 0 takes a free one",
            ) from e
        raise UnavailableError(
            f"this user cannot listen on port {port}: {(e.strerror or str(e)).lower()}",
            hint="give a port above 1023; 0 takes a free one",
        ) from e


async def _carry(
    reader: StreamReader, writer: StreamWriter, dial: Dial, failed: Callable[[OSError], None]
) -> None:
    with _closing(writer):
        try:
            there, back = await dial()
        except OSError as e:
            failed(e)
            return
        with _closing(back):
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_pass_on(reader, back))
                ways.create_task(_pass_on(there, writer))


async def _pass_on(source: StreamReader, target: StreamWriter) -> None:
    """Copy one direction to its end; the other one may go on."""
    with suppress(OSError):
        while block := await source.read(_BLOCK):
            target.write(block)
            await target.drain()
    with suppress(OSError, RuntimeError):
        target.write_eof()


@contextmanager
def _closing(writer: StreamWriter) -> Iterator[None]:
    """Close a connection in the end; one that is broken off is cut, with what was not sent."""
    try:
        yield
    except BaseException:
        writer.transport.abort()
        raise
    writer.close()
