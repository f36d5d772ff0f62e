"""Conditions in CEL, as far as they can be judged without an object."""

from collections.abc import Iterable

from kwokctl.controller.stages.expressions import CelCondition
from kwokctl.controller.stages.selectors import Condition


def fixed_truth(condition: Condition) -> bool | None:
    """Return whether a condition holds for every object; None if that depends on the object."""
    return condition.fixed_truth() if isinstance(condition, CelCondition) else None


def equalities(condition: Condition) -> Iterable[tuple[str, str]]:
    """Return the fields that must equal a text for a condition to hold, as jq writes them, and the texts."""
    return condition.equalities() if isinstance(condition, CelCondition) else ()
