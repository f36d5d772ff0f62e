"""Reads from the pods of a gang how they train: the length of a step, checkpoints, and what a restart costs. Pure."""

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import msgspec

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import parse_duration

STEPS = "kwokctl.dev/steps"
"""The annotation of a pod with the number of steps of its training; it makes the pod a rank of one."""
STEP_TIME = "kwokctl.dev/step-time"
"""The annotation with the length of a step on all ranks, a duration."""
CHECKPOINT_EVERY = "kwokctl.dev/checkpoint-every"
"""The annotation with the number of steps after which a checkpoint is written; without it there is none."""
CHECKPOINT_COST = "kwokctl.dev/checkpoint-cost"
"""The annotation with the time for which steps wait while a checkpoint is written, a duration."""
RESTART_COST = "kwokctl.dev/restart-cost"
"""The annotation with the time that a restart takes before its first step, a duration."""
OF_PLANS = (STEPS, STEP_TIME, CHECKPOINT_EVERY, CHECKPOINT_COST, RESTART_COST)
"""All of them."""
_EXAMPLE = f"for example {STEPS}: '1000' and {STEP_TIME}: 2s"
_BLUR = 1e-6
"""Steps that may be missing: times are rounded."""


class Position(NamedTuple):
    """The progress of a training in one attempt."""

    step: int
    """The number of steps that are done, those of earlier attempts included."""
    checkpoint: int
    """The number of steps in the last checkpoint that is written."""
    stepping: float
    """The seconds of work in this attempt that were steps."""


class TrainingPlan(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, rename="camel"):
    """A training: a number of steps, and what they take; times are in seconds."""

    steps: int
    step_time: float
    checkpoint_every: int = 0
    """The number of steps between two checkpoints; 0: there are none."""
    checkpoint_cost: float = 0.0
    """The time for which steps wait while a checkpoint is written."""
    restart_cost: float = 0.0
    """The time from the start of all ranks to the first step, but in the first attempt."""

    def length(self, start: int, *, is_restart: bool) -> float:
        """Return the seconds of work from an attempt's start at a step to the last step."""
        left = max(0, self.steps - start)
        written = self._checkpoints(left) * self.checkpoint_cost
        return self._before(is_restart=is_restart) + left * self.step_time + written

    def position(self, start: int, work: float, *, is_restart: bool) -> Position:
        """Return how far an attempt that began at a step has come after seconds of work.

        A checkpoint counts when it is written, and not while it is. None is written after the last step.
        """
        done = max(0.0, work - self._before(is_restart=is_restart))
        left = max(0, self.steps - start)
        most, every = self._checkpoints(left), self.checkpoint_every
        round_ = every * self.step_time + self.checkpoint_cost
        rounds = min(most, int(done / round_ + _BLUR)) if most else 0
        steps_left = left - rounds * every if rounds == most else every
        rest = min(max(0.0, done - rounds * round_), steps_left * self.step_time)
        steps = min(steps_left, math.floor(rest / self.step_time + _BLUR))
        checkpoint = start + rounds * every
        return Position(checkpoint + steps, checkpoint, rounds * every * self.step_time + rest)

    def _before(self, *, is_restart: bool) -> float:
        return self.restart_cost if is_restart else 0.0

    def _checkpoints(self, steps: int) -> int:
        """Return how many checkpoints are written during a number of steps to the end."""
        return (steps - 1) // self.checkpoint_every if self.checkpoint_every and steps else 0


def read_plan(annotations: Mapping[str, str]) -> TrainingPlan | None:
    """Return the training that annotations describe; None if they describe none.

    Raises ExpressionError, which names the annotation, where one cannot be read, or where one is missing.
    """
    given = {key: annotations[key] for key in _READ if key in annotations}
    if not given:
        return None
    for key in (STEPS, STEP_TIME):
        if key not in given:
            raise ExpressionError(
                f"annotation '{key}' is missing beside '{next(iter(given))}'", hint=_EXAMPLE
            )
    values = {_READ[key][0]: _value(key, text) for key, text in given.items()}
    if values["step_time"] <= 0:
        raise ExpressionError(f"annotation '{STEP_TIME}': a step takes some time", hint=_EXAMPLE)
    return TrainingPlan(**values)  # type: ignore[arg-type]  # each is read by its own function


def _value(key: str, text: str) -> float:
    try:
        found = _READ[key][1](text)
    except (ExpressionError, ValueError) as e:
        raise ExpressionError(
            f"annotation '{key}': '{text}' cannot be read: {e}", hint=_EXAMPLE
        ) from e
    if found < 0:
        raise ExpressionError(f"annotation '{key}': '{text}' is negative", hint=_EXAMPLE)
    return found


_READ: Mapping[str, tuple[str, Callable[[str], float]]] = {
    STEPS: ("steps", int),
    STEP_TIME: ("step_time", parse_duration),
    CHECKPOINT_EVERY: ("checkpoint_every", int),
    CHECKPOINT_COST: ("checkpoint_cost", parse_duration),
    RESTART_COST: ("restart_cost", parse_duration),
}
"""The field of each annotation, and how it is read."""
