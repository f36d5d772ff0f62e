"""Follows which objects of a set are ready, while they are made and while they are waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence

from kwokctl.clusters.scaling.reading import Change

MISSING = "does not exist"
"""What an object lacks that has vanished, or has never been made."""
_NAMED = 10
"""Laggards that are named one by one."""


class Following:
    """What a watch has told so far of a set that shall consist of certain objects, all ready."""

    def __init__(self, wanted: Collection[str], on_ready: Callable[[str], None]) -> None:
        """Expect the objects called `wanted`; tell `on_ready` of each that becomes ready."""
        self.wanted = wanted
        self.ready = 0
        """How many of the wanted objects are ready."""
        self._on_ready = on_ready
        self._lacks: dict[str, str | None] = {}
        """What each object that exists lacks; None if it is ready."""
        self._is_listed = False
        self._news = asyncio.Event()

    async def follow(self, changes: AsyncIterator[Sequence[Change]]) -> None:
        """Take note of every change until cancelled."""
        async for batch in changes:
            for change in batch:
                self._note(change)
            self._is_listed = self._is_listed or not batch
            self._news.set()

    async def complete(self, tell: Callable[[int], None]) -> None:
        """Return when exactly the wanted objects exist, as far as all have been told, and are ready.

        `tell` is called with how many more of them are ready than when it was called last.
        """
        told = 0
        while True:
            self._news.clear()
            tell(self.ready - told)
            told = self.ready
            if self._is_listed and self.ready == len(self.wanted) == len(self._lacks):
                return
            await self._news.wait()

    def laggards(self) -> tuple[int, str]:
        """Return how many objects are not as wanted, and lines that name them and what is wrong."""
        wrong = {name: MISSING for name in self.wanted if name not in self._lacks}
        for name, lacks in self._lacks.items():
            if name not in self.wanted:
                wrong[name] = "still exists"
            elif lacks is not None:
                wrong[name] = lacks
        return len(wrong), named([f"{name} {wrong[name]}" for name in sorted(wrong)])

    def _note(self, change: Change) -> None:
        name, lacks = change.verdict.name, change.verdict.lacks
        was_ready = self._lacks.get(name, MISSING) is None
        is_ready = change.exists and lacks is None
        if change.exists:
            self._lacks[name] = lacks
        else:
            self._lacks.pop(name, None)
        if name in self.wanted and is_ready != was_ready:
            self.ready += 1 if is_ready else -1
            if is_ready:
                self._on_ready(name)


def named(lines: Sequence[str]) -> str:
    """Return the first of many lines, and how many more there are."""
    more = [f"and {len(lines) - _NAMED} more"] if len(lines) > _NAMED else []
    return "\n".join([*lines[:_NAMED], *more])
