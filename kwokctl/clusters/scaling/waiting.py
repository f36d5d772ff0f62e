"""Waits until a set is as asked for, and names the laggards if it takes too long."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from kwokctl.clusters.scaling.in_flight import beside
from kwokctl.clusters.scaling.place import Place, amount
from kwokctl.clusters.scaling.readiness import Verdict, word_for
from kwokctl.clusters.scaling.reading import Reader
from kwokctl.dataplane.port import Target
from kwokctl.errors import ApiError, TimedOutError
from kwokctl.kube.resource import NODES, Resource
from kwokctl.progress import Step

_NAMED = 10
"""Laggards that are named one by one."""
_LOOK_EVERY = 5.0
"""Seconds after which it is said what is waited for."""


class Goal(Protocol):
    """What is waited for."""

    async def complete(self, tell: Callable[[int], None]) -> None:
        """Return when it is reached; `tell` is called with how many more objects are ready."""
        ...

    def laggards(self) -> list[Verdict]:
        """Return the objects that are not ready, and what is wrong with each."""
        ...


async def wait_for(
    goal: Goal, seconds: float, number: int, resource: Resource, set_name: str, place: Place
) -> None:
    """Wait, `seconds` at most if not 0, until the `number` objects of a set are ready.

    Raises TimedOutError, which names the laggards.
    """
    title, state = f"Waiting until no {resource.plural} are left", "gone"
    if number:
        verb, state = "is" if number == 1 else "are", word_for(resource.kind)
        title = f"Waiting until {amount(number, resource)} {verb} {state}"
    try:
        with place.progress.step(title, total=number, unit=resource.plural) as step:
            async with asyncio.timeout(seconds or None), beside(_tell(goal, place.reader, step)):
                await goal.complete(step.advance)
    except TimeoutError as e:
        late = goal.laggards()
        raise TimedOutError(
            f"{_late(len(late), number, resource)} of the set '{set_name}' "
            f"{'is' if len(late) == 1 else 'are'} not {state} after {round(seconds, 1):g} s",
            detail=await _named(late, place.reader),
            hint="nothing is undone; repeat the command to wait again",
        ) from e


def _late(late: int, number: int, resource: Resource) -> str:
    """Say how many are late, of how many."""
    return amount(late, resource) if late >= number else f"{late:,} of {amount(number, resource)}"


async def _tell(goal: Goal, reader: Reader, step: Step) -> None:
    """Say now and then what is wrong with one of those that are waited for."""
    while True:
        await asyncio.sleep(_LOOK_EVERY)
        lines = await _explained(goal.laggards()[:1], reader)
        step.say("".join(lines))


async def _named(late: Sequence[Verdict], reader: Reader) -> str:
    """Return lines that name the first of many laggards, and how many more there are."""
    more = [f"and {len(late) - _NAMED:,} more"] if len(late) > _NAMED else []
    return "\n".join([*await _explained(late[:_NAMED], reader), *more])


async def _explained(late: Sequence[Verdict], reader: Reader) -> list[str]:
    """Return what is wrong with each; no kubelet looks at pods whose node does not exist."""
    nodes = {each.node for each in late if each.node}
    absent = {node for node in nodes if not await _exists(node, reader)}
    return [
        f"{each.name} {each.lacks}"
        + (f": its node '{each.node}' does not exist" if each.node in absent else "")
        for each in late
    ]


async def _exists(node: str, reader: Reader) -> bool:
    try:
        return await reader.get(Target(NODES, None, node)) is not None
    except ApiError:
        return True  # as far as can be told
