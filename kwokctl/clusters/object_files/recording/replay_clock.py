"""The time of a recording that is replayed, and of its changes: it can be paused, and run faster or slower."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from kwokctl.clusters.object_files.recording.actions import ReplayAction

_MOST_LAG = 1.0
"""The seconds that the time may be ahead of what has been done."""
_SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""The speeds between which keys switch."""


class ReplayClock:
    """Seconds since the beginning of a recording, as they pass now."""

    def __init__(self, speed: float, clock: Callable[[], float]) -> None:
        """Begin at 0; `clock` is the time of the loop."""
        self._clock = clock
        self._speed = speed
        self._position = 0.0
        self._since = clock()
        self._is_paused = False
        self._changed = asyncio.Event()

    @property
    def position(self) -> float:
        """The present position in the recording."""
        if self._is_paused:
            return self._position
        return self._position + (self._clock() - self._since) * self._speed

    @property
    def speed(self) -> float:
        """Seconds of the recording in a second; 0 while it is paused."""
        return 0.0 if self._is_paused else self._speed

    def pause(self) -> None:
        """Stand still."""
        self._settle()
        self._is_paused = True

    def resume(self) -> None:
        """Go on."""
        self._settle()
        self._is_paused = False

    def faster(self) -> None:
        """Go to the next speed."""
        self._settle()
        self._speed = next((each for each in _SPEEDS if each > self._speed), self._speed)

    def slower(self) -> None:
        """Go to the speed before."""
        self._settle()
        self._speed = next((e for e in reversed(_SPEEDS) if e < self._speed), self._speed)

    async def wait(self, due: float) -> None:
        """Wait until the recording has come to a time.

        What cannot keep up is waited for: no more than a second is made up for.
        """
        while (left := due - self.position) > 0:
            self._changed.clear()
            seconds = left / self._speed if self.speed else None
            try:
                async with asyncio.timeout(seconds):
                    await self._changed.wait()
            except TimeoutError:
                continue
        if -left > _MOST_LAG:
            self._position, self._since = due + _MOST_LAG, self._clock()

    def _settle(self) -> None:
        """Restart the count from here, and wake what waits."""
        self._position = self.position
        self._since = self._clock()
        self._changed.set()


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
