"""Reads a generated log, and follows it as time goes by."""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Sequence

from kwokctl.kubelet.logs.generated import GeneratedLog
from kwokctl.kubelet.logs.lines import LogLine
from kwokctl.kubelet.logs.query import LogQuery
from kwokctl.kubelet.logs.source import LOOK_AGAIN, HasEnded

_LINES_PER_CHUNK = 1000
"""The most lines that are yielded together."""
_LEAST_PAUSE = 0.25
"""Seconds: waking for each line of hundreds of followers costs more than the lines."""


class GeneratedSource:
    """The lines of a generated log."""

    def __init__(self, log: GeneratedLog, wall: Callable[[], float]) -> None:
        """Read `log` at the time of day."""
        self._log = log
        self._wall = wall

    async def lines(
        self, query: LogQuery, has_ended: HasEnded
    ) -> AsyncGenerator[Sequence[LogLine], None]:
        """Yield what has been written, and with `follow` each line in its time."""
        log = self._log
        now = looked = self._wall()
        number = log.first(now, tail=query.tail, since=query.since)
        while True:
            written = log.written(now)
            while number < written:
                upto = min(number + _LINES_PER_CHUNK, written)
                yield [log.line(each) for each in range(number, upto)]
                number = upto
                await asyncio.sleep(0)
            if not query.follow or math.isinf(log.due(number)):
                return
            await asyncio.sleep(self._pause(number))
            now = self._wall()
            if now - looked >= LOOK_AGAIN:
                if await has_ended():
                    return
                now = looked = self._wall()

    def _pause(self, number: int) -> float:
        until = self._log.due(number) - self._wall()
        return min(max(until, _LEAST_PAUSE), LOOK_AGAIN)
