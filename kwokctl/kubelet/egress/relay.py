"""Carries a connection of the API server to an address that is no node's, and back."""

import asyncio
import socket
from contextlib import suppress

_PIECE = 64 * 1024


async def relay(near: socket.socket, far: socket.socket) -> None:
    """Pass bytes on until both sides have ended, or one is gone; then close both."""
    here, there = await _streams(near), await _streams(far)
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pass_on(here[0], there[1]))
            tasks.create_task(_pass_on(there[0], here[1]))
    except* OSError:
        pass
    finally:
        here[1].close()
        there[1].close()


async def _streams(end: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if end.family == socket.AF_UNIX:
        return await asyncio.open_unix_connection(sock=end)
    return await asyncio.open_connection(sock=end)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(_PIECE):
        writer.write(data)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()
