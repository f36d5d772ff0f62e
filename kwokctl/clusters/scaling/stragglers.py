"""Follows the pods of a set that do not run yet, where they are few of very many."""

import asyncio
from collections.abc import Callable, Sequence

from kwokctl.clusters.scaling.following import named
from kwokctl.clusters.scaling.readiness import Verdict
from kwokctl.clusters.scaling.reading import Reader

_FIRST, _MOST = 0.1, 1.0
"""Seconds between looks."""


class Stragglers:
    """The pods of a set that have been made, but do not run.

    Only these are read: reading a hundred thousand pods takes longer than making them.
    """

    def __init__(self, reader: Reader, namespace: str | None, selector: str, number: int) -> None:
        """Expect that `number` pods, all there are, will run."""
        self._reader = reader
        self._namespace = namespace
        self._selector = selector
        self._number = number
        self._late: Sequence[Verdict] = ()

    async def complete(self, tell: Callable[[int], None]) -> None:
        """Return when all run; `tell` is called with how many more do than when last called."""
        told, pause = 0, _FIRST
        while True:
            late = self._reader.late_pods(self._namespace, self._selector)
            self._late = [verdict async for verdict in late]
            running = self._number - len(self._late)
            tell(running - told)
            told = running
            if not self._late:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST)

    def laggards(self) -> tuple[int, str]:
        """Return how many pods do not run, and lines that name them and what is wrong."""
        return len(self._late), named([f"{late.name} {late.lacks}" for late in self._late])
