"""Makes several clusters at once, and shows how many there are already."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import TypeVar

from kwokctl.progress import Progress

T = TypeVar("T")


async def together(made: Sequence[Coroutine[object, None, T]], progress: Progress) -> Sequence[T]:
    """Make all of them; the first failure ends the others, which undo what they have made.

    A single one shows its own progress.
    """
    if len(made) == 1:
        return [await made[0]]
    with progress.step(f"Creating {len(made)} clusters", total=len(made), unit="clusters") as step:

        async def counted(each: Coroutine[object, None, T]) -> T:
            result = await each
            step.advance()
            return result

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(counted(each)) for each in made]
    return [task.result() for task in tasks]
