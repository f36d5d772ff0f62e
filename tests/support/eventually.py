"""Waiting for what happens elsewhere."""

import asyncio
from collections.abc import Callable

_PATIENCE = 90.0


async def eventually(holds: Callable[[], object]) -> None:
    """Wait until something holds; TimeoutError when patience is at an end."""
    async with asyncio.timeout(_PATIENCE):
        while not holds():
            await asyncio.sleep(0.005)
