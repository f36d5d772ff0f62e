"""Waits until a set is as requested, and names the objects that are late after a timeout."""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from os.path import commonprefix
from typing import Protocol

from kwokctl.clusters.scaling.cluster_reader import Change, ClusterReader
from kwokctl.clusters.scaling.context import NamesLike, ScaleContext, amount
from kwokctl.clusters.scaling.ready_objects import Verdict, word_for
from kwokctl.dataplane.port import ObjectKey
from kwokctl.errors import ApiError, TimedOutError
from kwokctl.kube.resource import NODES, Resource
from kwokctl.progress import Step
from kwokctl.retry import retried
from kwokctl.tasks import beside
from kwokctl.waits import Moved, after, bounded, ignored

_NAMED = 10
"""Laggards that are named one by one."""
_LOOK_EVERY = 5.0
"""Seconds after which the step shows what is waited for."""


class Goal(Protocol):
    """The condition that objects are waited for."""

    async def complete(self, report: Callable[[int], None], moved: Moved = ignored) -> None:
        """Return when it is reached; `report` is called with how many more objects are ready.

        `moved` is called when fewer objects than ever are not as they are wanted.
        """
        ...

    def laggards(self) -> list[Verdict]:
        """Return the objects that are not ready, and what is wrong with each."""
        ...


async def wait_for(
    goal: Goal,
    seconds: float,
    number: int,
    resource: Resource,
    set_name: str,
    context: ScaleContext,
) -> None:
    """Wait, `seconds` at most if not 0, until the `number` objects of a set are ready.

    Seconds of standstill begin again whenever fewer objects are late than ever before.

    Raises TimedOutError, which names the objects that are late.
    """
    title, state = f"Waiting until no {resource.plural} are left", "gone"
    if number:
        verb, state = "is" if number == 1 else "are", word_for(resource.kind)
        title = f"Waiting until {amount(number, resource)} {verb} {state}"
    try:
        with context.progress.step(title, total=number, unit=resource.plural) as step:
            async with (
                bounded(seconds) as moved,
                beside(_report_laggards(goal, context.reader, step)),
            ):
                await goal.complete(step.advance, moved)
    except TimeoutError as e:
        late = goal.laggards()
        raise TimedOutError(
            f"{_late(len(late), number, resource)} of the set '{set_name}' "
            f"{'is' if len(late) == 1 else 'are'} not {state} {after(seconds)}",
            detail=await _named(late, context.reader),
            hint="what was done stays; repeat the command to wait again",
        ) from e


def _late(late: int, number: int, resource: Resource) -> str:
    """Say how many are late, of how many."""
    return amount(late, resource) if late >= number else f"{late:,} of {amount(number, resource)}"


async def _report_laggards(goal: Goal, reader: ClusterReader, step: Step) -> None:
    """Report periodically what is wrong with one of the objects that are waited for."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        lines = await _explained(goal.laggards()[:1], reader)
        step.say("".join(lines))


async def _named(late: Sequence[Verdict], reader: ClusterReader) -> str:
    """Return lines that name the first of many late objects, and how many more there are."""
    more = [f"and {len(late) - _NAMED:,} more"] if len(late) > _NAMED else []
    return "\n".join([*await _explained(late[:_NAMED], reader), *more])


async def _explained(late: Sequence[Verdict], reader: ClusterReader) -> list[str]:
    """Return what is wrong with each; no kubelet handles pods whose node does not exist."""
    nodes = {each.node for each in late if each.node}
    absent = {node for node in nodes if not await _exists(node, reader)}
    return [
        f"{each.name} {each.lacks}"
        + (f": its node '{each.node}' does not exist" if each.node in absent else "")
        for each in late
    ]


async def _exists(node: str, reader: ClusterReader) -> bool:
    try:
        return await reader.get(ObjectKey(NODES, None, node)) is not None
    except ApiError:
        return True  # as far as is known


MISSING = "does not exist"
"""The lack of an object that has vanished, or was never created."""


class ReadinessWatch:
    """The state of a set that must consist of certain objects, all ready, as a watch has shown it so far."""

    def __init__(self, wanted: Collection[str], on_ready: Callable[[str], None]) -> None:
        """Expect the objects called `wanted`; call `on_ready` with each that becomes ready."""
        self.wanted = wanted
        self.ready = 0
        """The number of wanted objects that are ready, or not waited for."""
        self.broken: set[str] = set()
        """The nodes that are not waited for, since a user has broken them."""
        self._on_ready = on_ready
        self._late: dict[str, Verdict | None] = {}
        """The lack of each existing object; None if it is ready."""
        self._surplus = 0
        """The number of existing objects that are not wanted."""
        self._is_listed = False
        self._news = asyncio.Event()

    async def follow(self, changes: AsyncIterator[Sequence[Change]]) -> None:
        """Note every change until cancelled."""
        async for batch in changes:
            for change in batch:
                self._note(change)
            self._is_listed = self._is_listed or not batch
            self._news.set()

    async def complete(self, report: Callable[[int], None], moved: Moved = ignored) -> None:
        """Return when exactly the wanted objects exist, once all have been listed, and are ready.

        Nodes that a user has broken need not be. `report` is called with how many more of them are ready than when it was called last.
        """
        reported, least = 0, math.inf
        while True:
            self._news.clear()
            report(self.ready - reported)
            reported = self.ready
            if self._left < least:
                moved()
                least = self._left
            if self._is_listed and self.ready == len(self.wanted) == len(self._late):
                return
            await self._news.wait()

    @property
    def _left(self) -> float:
        """The number of objects that are not as wanted, as far as known."""
        if not self._is_listed:
            return math.inf
        return len(self.wanted) - self.ready + self._surplus

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
        is_ready = change.exists and (verdict.lacks is None or verdict.is_broken)
        (self.broken.add if change.exists and verdict.is_broken else self.broken.discard)(name)
        if name not in self.wanted:
            self._surplus += change.exists - (name in self._late)
        if change.exists:
            self._late[name] = None if is_ready else verdict
        else:
            self._late.pop(name, None)
        if name in self.wanted and is_ready != was_ready:
            self.ready += 1 if is_ready else -1
            if is_ready:
                self._on_ready(name)


_FIRST, _MOST = 0.1, 1.0
"""Seconds between reads."""


class Stragglers:
    """The pods of a set that have been made, but do not run.

    Only these are read: reading a hundred thousand pods takes longer than making them. When there
    are none any more, the names of all show whether some have vanished meanwhile.
    """

    def __init__(
        self,
        reader: ClusterReader,
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

    async def complete(self, report: Callable[[int], None], moved: Moved = ignored) -> None:
        """Return when all run; `report` is called with how many more do than when last called."""
        reported, most, pause = 0, 0, _FIRST
        while True:
            # A server that is too busy to answer once has not ended what is waited for.
            self._late = await retried(self._read) or await self._vanished()
            running = len(self._wanted) - len(self._late)
            report(running - reported)
            reported = running
            if running > most:
                moved()
                most = running
            if not self._late:
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, _MOST)

    async def _read(self) -> list[Verdict]:
        late = self._reader.late_pods(self._namespace, self._selector)
        return [verdict async for verdict in late]

    async def _vanished(self) -> list[Verdict]:
        # A prefix common to the least and the greatest is common to all.
        ends = min(self._wanted, default=""), max(self._wanted, default="")
        prefix = commonprefix(ends)  # noqa: RUF071 - names, not paths
        names = await self._names_like(self._namespace, prefix)
        return [Verdict(name, MISSING) for name in sorted(self._wanted.difference(names))]

    def laggards(self) -> list[Verdict]:
        """Return the pods that do not run, and what is wrong with each."""
        return list(self._late)


def _still_exists(late: Verdict | None) -> str:
    """Say that an object exists that is not wanted, and which finalizers keep it."""
    if late is None or not late.held_by:
        return "still exists"
    plural = "" if len(late.held_by) == 1 else "s"
    names = ", ".join(f"'{name}'" for name in late.held_by)
    return (
        f"still exists until the finalizer{plural} {names} {'is' if not plural else 'are'} removed"
    )
