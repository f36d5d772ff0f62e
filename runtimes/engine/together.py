"""Runs several tasks of one kind at the same time."""

import asyncio
from collections.abc import Collection, Coroutine, Iterable


async def all_of(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Do things at once, all of them to their end, and raise the first error."""
    ends: Collection[BaseException | None] = await asyncio.gather(*works, return_exceptions=True)
    for end in ends:
        if end is not None:
            raise end
