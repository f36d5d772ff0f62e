"""Follows which objects of a set are ready, while they are made and while they are waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Sequence

from kwokctl.clusters.scaling.readiness import Verdict
from kwokctl.clusters.scaling.reading import Change

MISSING = "does not exist"
"""What an object lacks that has vanished, or has never been made."""


class Following:
    """What a watch has told so far of a set that shall consist of certain objects, all ready."""

    def __init__(self, wanted: Collection[str], on_ready: Callable[[str], None]) -> None:
        """Expect the objects called `wanted`; tell `on_ready` of each that becomes ready."""
        self.wanted = wanted
        self.ready = 0
        """How many of the wanted objects are ready."""
        self._on_ready = on_ready
        self._late: dict[str, Verdict | None] = {}
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
            if self._is_listed and self.ready == len(self.wanted) == len(self._late):
                return
            await self._news.wait()

    def laggards(self) -> list[Verdict]:
        """Return the objects that are not as wanted, by their names, and what is wrong with each."""
        wrong = {name: Verdict(name, MISSING) for name in self.wanted if name not in self._late}
        for name, late in self._late.items():
            if name not in self.wanted:
                wrong[name] = Verdict(name, _still_exists(late))
            elif late is not None:
                wrong[name] = late
        return [wrong[name] for name in sorted(wrong)]

    def _note(self, change: Change) -> None:
        verdict = change.verdict
        name = verdict.name
        was_ready = self._late.get(name, verdict) is None
        is_ready = change.exists and verdict.lacks is None
        if change.exists:
            self._late[name] = None if is_ready else verdict
        else:
            self._late.pop(name, None)
        if name in self.wanted and is_ready != was_ready:
            self.ready += 1 if is_ready else -1
            if is_ready:
                self._on_ready(name)


def _still_exists(late: Verdict | None) -> str:
    """Say that an object exists that is not wanted, and which finalizers keep it."""
    if late is None or not late.held_by:
        return "still exists"
    plural = "" if len(late.held_by) == 1 else "s"
    names = ", ".join(f"'{name}'" for name in late.held_by)
    return (
        f"still exists until the finalizer{plural} {names} {'is' if not plural else 'are'} removed"
    )
