"""Follows the log of a container, also after it is restarted or replaced."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from datetime import datetime
from threading import Thread
from typing import Any

from runtimes.engine.engine_client import Container, Engine

_POLL = 0.5
"""Seconds between two looks for a container that runs again."""


async def follow_log(
    engine: Engine, find: Callable[[], Awaitable[Container | None]]
) -> AsyncIterator[bytes]:
    """Yield all that has been written and what is written from now on, each line once.

    `find` returns the present container. It ends with UnavailableError when the engine does.
    """
    latest: Counter[bytes] = Counter()
    second: int | None = None
    while True:
        if container := await find():
            # Engines repeat all lines of the last second; Podman has no finer times.
            repeated = latest.copy()
            async for part in _stamped(engine, container.id, since=second):
                if repeated[part]:
                    repeated[part] -= 1
                    continue
                stamp, _, line = part.partition(b" ")
                if (now := _second(stamp, second)) != second:
                    second = now
                    latest.clear()
                latest[part] += 1
                yield line
        while not ((container := await find()) and container.is_running):  # noqa: ASYNC110 - no event here
            await asyncio.sleep(_POLL)


async def _stamped(engine: Engine, container: str, *, since: int | None) -> AsyncIterator[bytes]:
    """Yield each line, after its time, from a second on until the container ends."""
    stream = await engine.ask(
        "logs", container, stream=True, follow=True, timestamps=True, since=since
    )
    async for part in followed(stream):
        yield part


def _second(stamp: bytes, before: int | None) -> int | None:
    """Read the second of a time; a part without a time belongs to the line before."""
    try:
        return int(datetime.fromisoformat(stamp.decode()).timestamp())
    except ValueError:
        return before


async def followed(stream: Any) -> AsyncIterator[bytes]:
    """Yield the parts of a stream as they come; the caller that stops reading closes it."""
    loop = asyncio.get_running_loop()
    received: asyncio.Queue[bytes | None] = asyncio.Queue()

    def deliver(part: bytes | None) -> None:
        # The loop may have ended meanwhile, and with it the reader.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(received.put_nowait, part)

    def listen() -> None:
        try:
            for part in stream:
                deliver(part)
        except (OSError, ValueError):
            # Closed by us while it was read, or by an engine that ends.
            pass
        finally:
            deliver(None)
            # The end of a stream leaves its connection open.
            stream._response.close()  # noqa: SLF001 - the SDK has no other way

    # Not of the loop's own pool, which is waited for at the end: this one may read for ever.
    Thread(target=listen, daemon=True).start()
    try:
        while (part := await received.get()) is not None:
            yield part
    finally:
        stream.close()
