"""Limits the work of an evaluation, in steps: one is about an item of a list, or some letters.

Steps are counted and not seconds, so that an expression fails on every machine or on none. Code that
makes a loop, or looks at a value that may be large, takes its steps.
"""

import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from kwokctl.errors import ExpressionError

T = TypeVar("T")

STEPS = 100_000
"""A tenth of a second or two; Stages that people write take less than a thousand."""
LETTERS = 8
"""The letters of a text that count as a step."""
SHORT = 64
"""Letters of a text that take no step: looking at them takes as long as the call."""


class BudgetError(ExpressionError):
    """An evaluation takes more steps than it may."""

    def __init__(self, where: str = "") -> None:
        super().__init__(
            f"{where}{': ' if where else ''}it takes more than {STEPS:,} steps",
            hint="shorten its loops, and the strings and lists that it creates",
        )


class _Account(threading.local):
    left: int | None = None
    """None outside of an evaluation."""


_account = _Account()


def metered(run: Callable[..., T], *values: Any) -> T:
    """Call a function, which may take `STEPS` with all it calls; raise BudgetError for more."""
    if _account.left is not None:
        return run(*values)
    _account.left = STEPS
    try:
        return run(*values)
    finally:
        _account.left = None


def spend(steps: int) -> None:
    """Take steps; outside of an evaluation, every call may take all there are."""
    left = _account.left
    if left is None:
        if steps > STEPS:
            raise BudgetError
        return
    _account.left = left - steps
    if steps > left:
        raise BudgetError


def looped(goods: Collection[T], weight: int) -> Collection[T]:
    """Return what a loop iterates over, after spending this weight for each round."""
    if goods:
        spend(1 + len(goods) * weight)
    return goods


def size_of(value: object) -> int:
    """Return the steps for looking at a value with all that is in it; BudgetError if fewer are left."""
    if type(value) is str:
        return len(value) // LETTERS
    steps = 0
    rest: list[object] = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, str | bytes):
            steps += len(value) // LETTERS
        elif isinstance(value, Mapping):
            steps += len(value)
            rest += value.values()
        elif isinstance(value, list | tuple):
            steps += len(value)
            rest += value
        if steps > STEPS:
            raise BudgetError
    return steps


def looked(value: T) -> T:
    """Return a value at which all that is in it is looked."""
    if isinstance(value, str):
        if len(value) > SHORT:
            spend(len(value) // LETTERS)
    elif type(value) not in _SCALARS and not (isinstance(value, dict | list) and not value):
        spend(size_of(value))
    return value


def charged(function: Callable[..., T], *, flat: int = 0) -> Callable[..., T]:
    """Return a function that takes steps for what it looks at, and for a text or a list that it makes.

    Of the first `flat` values it copies no more than one level.
    """

    def call(*values: object) -> T:
        for value in values[flat:]:
            if type(value) is not str or len(value) > SHORT:
                looked(value)
        result = function(*values)
        if isinstance(result, list):
            spend(len(result) // _COPIED)
        elif isinstance(result, str) and len(result) > SHORT:
            spend(len(result) // LETTERS)
        return result

    return call


_COPIED = 16
"""Items of a list that are copied in a step."""
_SCALARS: frozenset[type] = frozenset({bool, int, float, type(None)})
