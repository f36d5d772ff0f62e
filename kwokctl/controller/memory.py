"""Keeps the memory of the controller small, and the garbage collector out of its way."""

import asyncio
import gc

from kwokctl.host.heap import give_back

_GC_THRESHOLDS = (50_000, 20, 100)
"""Thousands of objects are kept for long: looking through them often finds nothing."""
_GIVE_BACK_EVERY = 60.0
"""Seconds."""


def collect_rarely() -> None:
    """Let the garbage collector run less often."""
    gc.set_threshold(*_GC_THRESHOLDS)


def freeze() -> None:
    """Let the garbage collector leave out all objects that exist now."""
    gc.collect()
    gc.freeze()


async def give_back_regularly() -> None:
    """Return memory that is not used any more to the machine, until cancelled."""
    while True:
        await asyncio.sleep(_GIVE_BACK_EVERY)
        give_back()
