"""Lines that are made from a template at a rate: none of them is kept anywhere.

Which lines a container has written follows from when it was started and from the time; so a log can be
read from any place, again and again, and it costs nothing until it is read.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import lru_cache

import msgspec

from kwokctl.expr import gotemplate
from kwokctl.expr.duration import format_time
from kwokctl.kubelet.fleet.views import PodView
from kwokctl.kubelet.logs.log_documents import GeneratedLines
from kwokctl.kubelet.logs.log_lines import LogLine
from kwokctl.kubelet.logs.log_query import LogQuery
from kwokctl.kubelet.logs.log_source import LOOK_AGAIN, HasEnded


@lru_cache(maxsize=64)
def _compiled(template: str) -> gotemplate.Template:
    return gotemplate.compile(template, name="logs")


class Period(msgspec.Struct, frozen=True):
    """The time in which a container ran."""

    begin: float
    end: float = math.inf
    """In the future while it runs."""


class GeneratedLog:
    """The log of one container."""

    def __init__(
        self, entry: GeneratedLines, pod: PodView, container: str, restarts: int, period: Period
    ) -> None:
        """Write the lines of `period`."""
        self._entry = entry
        self._period = period
        self._template = _compiled(entry.template)
        self._stream = entry.stream.encode()
        self._facts = {
            "namespace": pod.namespace,
            "pod": pod.name,
            "uid": pod.uid,
            "node": pod.node,
            "container": container,
            "labels": pod.labels,
            "annotations": pod.annotations,
            "restarts": restarts,
        }

    def written(self, now: float) -> int:
        """Return how many lines have been written by now; the first one when it is started."""
        until = min(now, self._period.end)
        if until < self._period.begin:
            return 0
        return math.floor((until - self._period.begin) * self._entry.lines_per_second) + 1

    def first(self, now: float, *, tail: int | None, since: float) -> int:
        """Return the number of the first line to show."""
        written = self.written(now)
        kept = max(0, written - self._entry.kept_lines)
        rate = self._entry.lines_per_second
        younger = math.ceil((since - self._period.begin) * rate) if since else 0
        wanted = written - tail if tail is not None else 0
        return min(max(kept, younger, wanted), written)

    def due(self, number: int) -> float:
        """Return when a line is written; infinity if it never is."""
        at = self._period.begin + number / self._entry.lines_per_second
        return at if at <= self._period.end else math.inf

    def line(self, number: int) -> LogLine:
        """Return a line."""
        at = self._period.begin + number / self._entry.lines_per_second
        time = format_time(at, nanos=True)
        text = self._template.render({**self._facts, "line": number, "time": time}, {})
        content = text.replace("\n", " ").encode()
        return LogLine(time.encode("ascii"), self._stream, content)


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
