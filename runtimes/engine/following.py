"""Hears a blocking stream of the SDK from an event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from threading import Thread
from typing import Any


async def followed(stream: Any) -> AsyncIterator[bytes]:
    """Yield the parts of a stream as they come; whoever stops listening closes it."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[bytes | None] = asyncio.Queue()

    def tell(part: bytes | None) -> None:
        # The loop may have ended meanwhile, and with it whoever listened.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(heard.put_nowait, part)

    def listen() -> None:
        try:
            for part in stream:
                tell(part)
        except (OSError, ValueError):
            # Closed by us while it was read, or by an engine that ends.
            pass
        finally:
            tell(None)
            # The end of a stream leaves its connection open.
            stream._response.close()  # noqa: SLF001 - the SDK has no other way

    # Not of the loop's own pool, which is waited for at the end: this one may read for ever.
    Thread(target=listen, daemon=True).start()
    try:
        while (part := await heard.get()) is not None:
            yield part
    finally:
        stream.close()
