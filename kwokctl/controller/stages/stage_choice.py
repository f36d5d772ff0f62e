"""Chooses among the Stages that match an object, and computes the delay. Pure."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from random import Random
from typing import TypeVar

import msgspec

from kwokctl.controller.stages.compiled_stage import Delay, Stage
from kwokctl.controller.stages.selectors import FieldQuery, Known
from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration, parse_time
from kwokctl.json_value import Json

BASE_FIELD, BOUND_FIELD = "spec.delay.durationFrom", "spec.delay.jitterDurationFrom"
"""The fields of a Stage that read its delay, and the bound of it, from the object."""
T = TypeVar("T")
Unread = Callable[[str, Json], None]
"""Told of a delay that cannot be read: the field that says where it is, and what is there."""


class Basis(msgspec.Struct, frozen=True):
    """The grounds for a choice; while they stay the same, an object keeps its stage."""

    matches: tuple[Stage, ...]
    weights: tuple[int | None, ...]
    times: tuple[Json, ...]


def basis(stages: Sequence[Stage], value: Json) -> Basis:
    """Find the stages that match an object, and what their weights and delays depend on.

    Raises ExpressionError if a condition or a weight in CEL fails, or an expression takes too long.
    """
    known: Known = {}
    return grounds(tuple([stage for stage in stages if stage.matches(value, known)]), value)


def grounds(matches: tuple[Stage, ...], value: Json) -> Basis:
    """Find what the weights and delays of Stages that match depend on."""
    weights = tuple([weight_of(stage, value) for stage in matches]) if len(matches) > 1 else ()
    return Basis(matches, weights, _times(matches, value))


def basis_of_sound(
    stages: Sequence[Stage], value: Json, failed: Callable[[Stage, ExpressionError], None]
) -> Basis:
    """Find the Stages that match an object, without those whose condition, weight or delay fails.

    Each of them is passed to `failed`.
    """
    known: Known = {}

    def tried(stage: Stage, look: Callable[[Stage], T]) -> T | None:
        try:
            return look(stage)
        except ExpressionError as e:
            failed(stage, e)
            return None

    matches = [s for s in stages if tried(s, lambda each: each.matches(value, known))]
    timed = [(s, tried(s, lambda each: _times((each,), value))) for s in matches]
    matches = [s for s, times in timed if times is not None]
    if len(matches) < 2:
        return Basis(tuple(matches), (), _times(matches, value))
    weights = [(s, tried(s, lambda each: (weight_of(each, value),))) for s in matches]
    sound = [(s, weight[0]) for s, weight in weights if weight is not None]
    kept = tuple(s for s, _ in sound)
    weighed = tuple(weight for _, weight in sound) if len(sound) > 1 else ()
    return Basis(kept, weighed, _times(kept, value))


def _times(matches: Sequence[Stage], value: Json) -> tuple[Json, ...]:
    """Return what the delays of stages are computed from."""
    times: tuple[Json, ...] = ()
    for stage in matches:
        delay = stage.delay
        if delay is not None and (delay.base_from or delay.bound_from):
            times += (_first(delay.base_from, value), _first(delay.bound_from, value))
    return times


def pick(found: Basis, random: Random) -> Stage | None:
    """Choose among the stages that match.

    A single one is taken whatever its weight. Weights are proportional; if all are 0 the choice is
    uniform among those that have one, and if none has one it is uniform among all.
    """
    matches, weights = found.matches, found.weights
    if len(matches) < 2:
        return matches[0] if matches else None
    weighted = [(s, w) for s, w in zip(matches, weights, strict=True) if w is not None]
    if not weighted:
        return random.choice(matches)
    total = sum(weight for _, weight in weighted)
    if total <= 0:
        return random.choice(weighted)[0]
    return random.choices([s for s, _ in weighted], [max(w, 0) for _, w in weighted])[0]


def possible(found: Basis) -> Sequence[Stage]:
    """Return the stages that may be picked."""
    matches, weights = found.matches, found.weights
    weighted = [(s, w) for s, w in zip(matches, weights, strict=False) if w is not None]
    if not weighted:
        return matches
    is_uniform = sum(weight for _, weight in weighted) <= 0
    return [stage for stage, weight in weighted if is_uniform or weight > 0]


def seconds(
    delay: Delay | None, value: Json, now: float, random: Random, unread: Unread | None = None
) -> float:
    """Compute how long to wait, in seconds; `now` is the time of day as a POSIX time stamp."""
    least, most = seconds_range(delay, value, now, unread)
    return random.uniform(least, most) if most > least else least


def seconds_range(
    delay: Delay | None, value: Json, now: float, unread: Unread | None = None
) -> tuple[float, float]:
    """Return between which times the wait is chosen at random, in seconds.

    An upper bound that is not above the base is itself the delay, as in the original. Where the
    object's own text is not a delay, `unread` is called with it, and the Stage's milliseconds count.
    """
    if delay is None:
        return 0.0, 0.0
    found, found_bound = _first(delay.base_from, value), _first(delay.bound_from, value)
    if unread is not None:
        for field, each in ((BASE_FIELD, found), (BOUND_FIELD, found_bound)):
            if not _is_time(each):
                unread(field, each)
    base = _time(found, delay.base, now)
    bound = _time(found_bound, delay.bound, now)
    if base is None:
        return 0.0, 0.0
    if bound is None:
        return base, base
    return min(base, bound), bound


def unread_delay(found: Json) -> str:
    """Describe what is wrong with a delay that cannot be read, and which delay is used instead."""
    what = f"'{found}'" if isinstance(found, str) else f"the value {found}"
    return (
        f"finds {what}, which is neither a duration, such as 90s, 2m or 24h, nor a time; "
        "the Stage's own milliseconds count in its place"
    )


def weight_of(stage: Stage, value: Json) -> int | None:
    """Return a stage's weight for an object; None if the text cannot be read."""
    first = _first(stage.weight_from, value)
    if first is None or isinstance(first, bool):
        return stage.weight
    if not isinstance(first, int | float | str):
        return stage.weight
    try:
        return int(first)
    except (ValueError, OverflowError):
        return None


def _is_time(found: Json) -> bool:
    """Return whether a delay can be read, or none is there."""
    return found is None or _time(found, None, 0.0) is not None or found == ""


def _time(found: Json, otherwise: float | None, now: float) -> float | None:
    """Read a delay: a Go duration or a moment in RFC 3339; an empty text means no delay at all.

    Of CEL it is a length of time.
    """
    if isinstance(found, timedelta):
        return max(found.total_seconds(), 0.0)
    if not isinstance(found, str):
        return otherwise
    if not found:
        return None
    try:
        return max(parse_duration(found), 0.0)
    except ExpressionError:
        pass
    try:
        return max(parse_time(found) - now, 0.0)
    except ExpressionError:
        return otherwise


def _first(query: FieldQuery | None, value: Json) -> Json:
    if query is None:
        return None
    found = query.values(value)
    return found[0] if found else None
