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
    title = f"Waiting until no {resource.plural} are left"
    if number:
        verb = "is" if number == 1 else "are"
        title = f"Waiting until {amount(number, resource)} {verb} {word_for(resource.kind)}"
    try:
        with progress.step(title, total=number, unit=resource.plural) as step:
            async with asyncio.timeout(seconds or None):
                await goal.complete(step.advance)
    except TimeoutError as e:
        late, names = goal.laggards()
        raise TimedOutError(
            f"after {seconds:g} s {amount(late, resource)} of '{set_name}' "
            f"{'is' if late == 1 else 'are'} not as asked for",
            detail=names,
            hint="nothing is undone; the same command waits on",
        ) from e
