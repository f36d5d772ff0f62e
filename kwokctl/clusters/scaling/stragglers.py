"""Follows the pods of a set that do not run yet, where they are few of very many."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from os.path import commonprefix

from kwokctl.clusters.scaling.following import MISSING
from kwokctl.clusters.scaling.readiness import Verdict
from kwokctl.clusters.scaling.reading import Reader

NamesLike = Callable[[str | None, str], Awaitable[Collection[str]]]
"""Returns the names of all pods of a namespace that begin with a prefix, and costs little."""

_FIRST, _MOST = 0.1, 1.0
"""Seconds between looks."""


class Stragglers:
    """The pods of a set that have been made, but do not run.

    Only these are read: reading a hundred thousand pods takes longer than making them. When there
    are none any more, the names of all tell whether some have vanished meanwhile.
    """

    def __init__(
        self,
        reader: Reader,
        namespace: str | None,
        selector: str,
        wanted: Collection[str],
        names_like: NamesLike,
    ) -> None:
        """Expect that the pods called `wanted`, all there are, will run."""
        self._reader = reader
        self._namespace = namespace
        self._selector = selector
        self._wanted = frozenset(wanted)
        self._names_like = names_like
        self._late: Sequence[Verdict] = ()

    async def complete(self, tell: Callable[[int], None]) -> None:
        """Return when all run; `tell` is called with how many more do than when last called."""
        told, pause = 0, _FIRST
        while True:
            late = self._reader.late_pods(self._namespace, self._selector)
            self._late = [verdict async for verdict in late] or await self._vanished()
            running = len(self._wanted) - len(self._late)
            tell(running - told)
            told = running
            if not self._late:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST)

    async def _vanished(self) -> list[Verdict]:
        # The least and the greatest have in common what all have.
        ends = min(self._wanted, default=""), max(self._wanted, default="")
        prefix = commonprefix(ends)  # noqa: RUF071 - names, not paths
        names = await self._names_like(self._namespace, prefix)
        return [Verdict(name, MISSING) for name in sorted(self._wanted.difference(names))]

    def laggards(self) -> list[Verdict]:
        """Return the pods that do not run, and what is wrong with each."""
        return list(self._late)
