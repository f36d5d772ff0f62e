"""Does changes when their time has come, those of one object after each other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from kwokctl.clusters.object_files.recording.actions import ReplayAction
from kwokctl.clusters.object_files.recording.clock import ReplayClock

_WORKERS = 16
_AHEAD = 8
"""Changes that wait for a worker: more would hide that the cluster cannot keep up."""

Do = Callable[[ReplayAction], Awaitable[None]]


async def play_in_time(actions: Sequence[ReplayAction], clock: ReplayClock, do: Do) -> None:
    """Make each change when its time has come, after the change before it of the same object."""
    queues = [asyncio.Queue[ReplayAction | None](_AHEAD) for _ in range(_WORKERS)]
    async with asyncio.TaskGroup() as workers:
        for queue in queues:
            workers.create_task(_work(queue, do))
        for action in actions:
            await clock.wait(action.action.seconds)
            await queues[hash(action.path) % _WORKERS].put(action)
        for queue in queues:
            await queue.put(None)


async def _work(queue: asyncio.Queue[ReplayAction | None], do: Do) -> None:
    while (action := await queue.get()) is not None:
        await do(action)
