"""Reads how many watches an API server has ended because their clients were too slow.

It counts them in `apiserver_terminated_watchers_total`, by resource
(https://kubernetes.io/docs/reference/instrumentation/metrics/); each of them lists again.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from kwokctl.errors import ApiError
from kwokctl.kube.collections.samples import values
from kwokctl.kube.transport.pool import Pool
from kwokctl.kube.transport.status import refusal

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
