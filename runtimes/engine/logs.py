"""Follows what a container writes beyond its end: when it runs again, or another in its place."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime

from runtimes.engine.client import Container, Engine
from runtimes.engine.following import followed

_POLL = 0.5
"""Seconds between two looks for a container that runs again."""


async def follow_log(
    engine: Engine, find: Callable[[], Awaitable[Container | None]]
) -> AsyncIterator[bytes]:
    """Yield all that has been written and what is written from now on, each line once.

    `find` tells which container it is now. It ends with UnavailableError when the engine does.
    """
    last = b""
    while True:
        if container := await find():
            async for stamp, line in _stamped(engine, container.id, last):
                if stamp > last:
                    last = stamp
                    yield line
        while not ((container := await find()) and container.is_running):  # noqa: ASYNC110 - no event here
            await asyncio.sleep(_POLL)


async def _stamped(
    engine: Engine, container: str, last: bytes
) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield each line with its time, from the second of the last one on, until the container ends.

    Times are written with as many digits each, so that they are ordered as their texts are.
    """
    since = int(datetime.fromisoformat(last[:19].decode() + "+00:00").timestamp()) if last else None
    stream = await engine.ask(
        "logs", container, stream=True, follow=True, timestamps=True, since=since
    )
    async for part in followed(stream):
        stamp, _, line = part.partition(b" ")
        yield stamp, line
