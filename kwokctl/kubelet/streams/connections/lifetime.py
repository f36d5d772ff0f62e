"""Limits the work for a client to the time that the client is there."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from kwokctl.tasks import beside

_PULSE = 15.0
"""Seconds between signs of life. One that cannot be sent shows that the client has disconnected, even while
its input is not read because no task takes it."""
_LINGERING = 5.0
"""Seconds in which a client may read the last of its answer, and close the connection itself: if we
close it while something of the client is on its way, the answer is lost (RFC 9112, section 9.6)."""


class LastingConnection(Protocol):
    """A connection with streams of both sides."""

    async def run(self) -> None:
        """Take in what comes; return when the client has disconnected or broken the protocol."""
        ...

    async def pulse(self) -> None:
        """Give a sign of life; ConnectionError if the client has disconnected."""
        ...

    async def say_goodbye(self) -> None:
        """Tell the client that all is done."""
        ...


async def while_connected(
    connection: LastingConnection, work: Callable[[], Awaitable[None]]
) -> None:
    """Do work, and cancel it when the client goes."""
    try:
        async with beside(_until_gone(connection), _pulses(connection)):
            await work()
            await connection.say_goodbye()
            await asyncio.sleep(_LINGERING)
    except ConnectionError:
        return


async def _until_gone(connection: LastingConnection) -> None:
    await connection.run()
    raise ConnectionResetError


async def _pulses(connection: LastingConnection) -> None:
    while True:
        await asyncio.sleep(_PULSE)
        await connection.pulse()
