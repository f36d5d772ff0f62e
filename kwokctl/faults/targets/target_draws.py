"""Draws as many of the units as a target wants. Pure.

Every unit gets a number, which depends on the seed, the class and the name of the unit alone, and those with the smallest
numbers are drawn. So a node that is added or removed leaves the numbers of all others as they are, and a larger
`count` draws what a smaller one does, and more.
"""

from collections.abc import Callable, Sequence
from math import floor
from typing import TypeVar

from kwokctl.draws.streams import DrawStream
from kwokctl.faults.objects.fault_schema import FaultTarget
from kwokctl.faults.targets.target_filters import NoMatchError

_T = TypeVar("_T")
_TARGET = "target"
"""The name of these numbers, beside those of the courses of faults."""


def target_stream(seed: int, class_name: str) -> DrawStream:
    """Return the stream below which each unit has one of its own."""
    return DrawStream.of(seed, class_name, _TARGET)


def drawn(
    items: Sequence[_T],
    name_of: Callable[[_T], str],
    target: FaultTarget,
    stream: DrawStream,
    what: str,
) -> Sequence[_T]:
    """Return as many items as are wanted, in the order of their numbers, or all of them in their own order.

    `what` is the word for several of them. Raises NoMatchError if `count` is more than there are, unless others follow later.
    """
    number = wanted(target, len(items), what)
    if number is None:
        return items
    # Of two with the same number, which is next to impossible, the first name comes first.
    return sorted(items, key=lambda each: (stream.below(name_of(each)).at(0), name_of(each)))[
        :number
    ]


def wanted(target: FaultTarget, number: int, what: str) -> int | None:
    """Return how many of a number of units a target wants; None for all of them. Errors as `drawn`.

    A percentage is rounded to the nearest number, and is at least one unit.
    """
    if target.count is not None:
        if target.count > number and not target.follow:
            problem = f"{target.count} {what} are wanted, and {number} match"
            raise NoMatchError(problem, "lower 'count', or let more match")
        return target.count
    if target.percent is not None:
        return max(1, floor(number * target.percent / 100 + 0.5))
    return None
