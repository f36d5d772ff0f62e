"""Whether what a jq program finds in a value can depend on parts of it that are not known."""

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import assert_never

from kwokctl.expr.jq import jq_parser
from kwokctl.expr.jq.jq_parser import Constant, Each, Either, Field, Item, Select, Step, Steps
from kwokctl.json_value import Json

IsUnknown = Callable[[object], bool]
"""Returns whether a value, or anything in it, is not known."""


def reaches(
    source: str, value: Json, is_unknown: IsUnknown, in_result: IsUnknown | None = None
) -> bool:
    """Return whether the program may read, or return, something of `value` that is not known.

    Of a result `in_result` decides that, if it is given. Errs on the side of yes: for a program that
    the compiler does not know, and for what comes after a `select` that lets nothing through.
    """
    steps = _steps(source)
    return steps is None or _reaches(steps, value, is_unknown, in_result or is_unknown)


@lru_cache(maxsize=1024)
def _steps(source: str) -> Steps | None:
    try:
        return jq_parser.parse(source)
    except jq_parser.NotCompiledError:
        return None


def _reaches(steps: Steps, value: Json, is_unknown: IsUnknown, in_result: IsUnknown) -> bool:
    if not steps:
        return in_result(value)
    if not isinstance(value, Mapping | list):
        return is_unknown(value)  # what is known gives null, or an error
    step, rest = steps[0], steps[1:]
    if isinstance(step, Select) and _reaches(step.path, value, is_unknown, is_unknown):
        return True
    if isinstance(step, Either):
        branches = [branch + rest for branch in step.branches]
        return any(_reaches(branch, value, is_unknown, in_result) for branch in branches)
    return any(_reaches(rest, each, is_unknown, in_result) for each in _next(step, value))


def _next(step: Step, value: Mapping[str, Json] | list[Json]) -> Collection[Json]:
    """Return what a step leads to."""
    match step:
        case Field():
            return [value[step.name]] if isinstance(value, Mapping) and step.name in value else []
        case Item():
            return value[step.index :][:1] if isinstance(value, list) else []
        case Each():
            return value.values() if isinstance(value, Mapping) else value
        case Select():
            return [value]
        case Constant() | Either():
            return []
        case _:
            assert_never(step)
