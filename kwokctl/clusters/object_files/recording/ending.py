"""Ends a recording: after a time, or by an interrupt."""

import asyncio
from collections.abc import Awaitable, Callable


async def until_its_end(
    work: Awaitable[None], seconds: float | None, *, has_begun: Callable[[], bool]
) -> None:
    """Work until the time is over; once it has begun, an interrupt is the usual end of it."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not has_begun() or task is None:
            raise
        task.uncancel()
