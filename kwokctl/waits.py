"""Limits of waits: a total time, or a time without progress.

A total time depends on how fast the machine is, so it is for the user to give. Where none is given a wait
ends when nothing has moved for long, as a Deployment's `progressDeadlineSeconds` does.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

Moved = Callable[[], None]
"""Is called whenever there is more of what is waited for than there has ever been."""


class Standstill(float):
    """Seconds in which nothing moves: they begin again with each progress."""


USUAL = Standstill(300.0)
"""The longest time without progress if no other limit was given: a component becomes ready in seconds, and
this suffices on a machine that is fifty times slower."""

STARTING = 15.0
"""Seconds for an answer of a program that starts, on a machine whose time all of them want at once: a
handshake that is given up has cost them as much as one that succeeds."""


def ignored() -> None:
    """Take no notice of what has moved."""


@asynccontextmanager
async def bounded(seconds: float | None) -> AsyncIterator[Moved]:
    """Bound a block that waits, which calls what it is given when something has moved.

    0 and None mean no bound. Raises TimeoutError.
    """
    import asyncio  # not for a command that only reads its words

    async with asyncio.timeout(seconds or None) as limit:

        def moved() -> None:
            if isinstance(seconds, Standstill) and not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time() + seconds)

        yield moved


def after(seconds: float) -> str:
    """Say after how long a wait was given up: `after 90 s`."""
    if isinstance(seconds, Standstill):
        return f"after {float(seconds):g} s without progress"
    return f"after {round(seconds, 1):g} s"
