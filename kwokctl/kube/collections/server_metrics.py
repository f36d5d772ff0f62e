"""Reads single figures out of the metrics of a component, which may be megabytes of text.

An API server counts the watches that it has ended because their clients were too slow and, from Kubernetes 1.26 on, its
feature gates, in `kubernetes_feature_enabled` (https://kubernetes.io/docs/reference/instrumentation/metrics/). A version
says less: gates can be set.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from kwokctl.errors import ApiError
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.refusals import refusal


def values(text: bytes, name: str) -> Iterator[float]:
    """Yield the value of each sample of a metric that has labels."""
    start = f"\n{name}{{".encode()
    at = text.find(start)
    while at >= 0:
        end = text.find(b"\n", at + 1)
        yield float(text[at + 1 : end if end >= 0 else len(text)].rpartition(b" ")[2])
        at = text.find(start, end) if end >= 0 else -1


NAME = "apiserver_terminated_watchers_total"
_WITHIN = 3.0
"""Seconds: less than clients wait that want other figures beside this one."""


async def ended_watches(pool: Pool) -> int:
    """Return the number since the API server's start; ApiError if it does not report it."""
    response = await pool.request("GET", "/metrics", accept="text/plain")
    if response.status != 200:
        raise refusal(response.status, response.body)
    return int(sum(values(response.body, NAME)))


class EndedWatches:
    """The last known number; a read refreshes it if it is old.

    If the API server does not answer the number stays.
    """

    def __init__(self, pool: Pool, *, every: float, clock: Callable[[], float]) -> None:
        """Ask over `pool`, at most once in `every` seconds of `clock`."""
        self._pool = pool
        self._every = every
        self._clock = clock
        self._asked_at = float("-inf")
        self._first: int | None = None
        self.number = 0

    @property
    def is_known(self) -> bool:
        """Whether the API server has answered."""
        return self._first is not None

    @property
    def new(self) -> int:
        """The number since the first answer; 0 if the API server has been restarted since."""
        return max(0, self.number - (self._first or 0))

    async def refresh(self) -> None:
        """Ask again if the answer is old, but do not wait long for an API server that does not answer."""
        if self._clock() - self._asked_at >= self._every:
            with suppress(TimeoutError):
                async with asyncio.timeout(_WITHIN):
                    await self.ask()

    async def ask(self) -> None:
        """Ask in any case."""
        self._asked_at = self._clock()
        with suppress(ApiError):
            self.number = await ended_watches(self._pool)
            self._first = self.number if self._first is None else self._first


_ON = re.compile(rb'^kubernetes_feature_enabled\{name="(\w+)"[^}]*\} 1$', re.MULTILINE)


async def gates_that_are_on(pool: Pool) -> frozenset[str]:
    """Return the names of the gates; ApiError if the API server does not report its metrics."""
    response = await pool.request("GET", "/metrics", accept="text/plain")
    if response.status != 200:
        raise refusal(response.status, response.body)
    return frozenset(name.decode() for name in _ON.findall(response.body))
