"""Waits until a set is as asked for, and names the laggards if it takes too long."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from kwokctl.clusters.scaling.place import amount
from kwokctl.clusters.scaling.readiness import word_for
from kwokctl.errors import TimedOutError
from kwokctl.kube.resource import Resource
from kwokctl.progress import Progress


class Goal(Protocol):
    """What is waited for."""

    async def complete(self, tell: Callable[[int], None]) -> None:
        """Return when it is reached; `tell` is called with how many more objects are ready."""
        ...

    def laggards(self) -> tuple[int, str]:
        """Return how many objects are not ready, and lines that name them and what is wrong."""
        ...


async def wait_for(
    goal: Goal, seconds: float, number: int, resource: Resource, set_name: str, progress: Progress
) -> None:
    """Wait, `seconds` at most if not 0, until the `number` objects of a set are ready.

    Raises TimedOutError, which names the laggards.
    """
    title, state = f"Waiting until no {resource.plural} are left", "gone"
    if number:
        verb, state = "is" if number == 1 else "are", word_for(resource.kind)
        title = f"Waiting until {amount(number, resource)} {verb} {state}"
    try:
        with progress.step(title, total=number, unit=resource.plural) as step:
            async with asyncio.timeout(seconds or None):
                await goal.complete(step.advance)
    except TimeoutError as e:
        late, names = goal.laggards()
        raise TimedOutError(
            f"{_late(late, number, resource)} of the set '{set_name}' "
            f"{'is' if late == 1 else 'are'} not {state} after {round(seconds, 1):g} s",
            detail=names,
            hint="nothing was undone: what is there stays, and the same command goes on waiting",
        ) from e


def _late(late: int, number: int, resource: Resource) -> str:
    """Say how many are late, of how many."""
    return amount(late, resource) if late >= number else f"{late:,} of {amount(number, resource)}"
