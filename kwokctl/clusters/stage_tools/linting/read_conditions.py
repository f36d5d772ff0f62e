"""Reads from conditions of Stages what holds whatever the object is.

Paths in jq are such as `.metadata.labels["a/b"]` and `.status.conditions.[].type`.
"""

import re
from collections.abc import Iterable

from kwokctl.controller.stages.cel_results import CelCondition
from kwokctl.controller.stages.selectors import Condition


def fixed_truth(condition: Condition) -> bool | None:
    """Return whether a condition holds for every object; None if that depends on the object."""
    return condition.fixed_truth() if isinstance(condition, CelCondition) else None


def equalities(condition: Condition) -> Iterable[tuple[str, str]]:
    """Return the fields that must equal a text for a condition to hold, as jq writes them, and the texts."""
    return condition.equalities() if isinstance(condition, CelCondition) else ()


EACH = "[]"
"""The part of a path that stands for every item."""

_FIELD = r"\.([A-Za-z_][A-Za-z0-9_]*)"
_ITEM = r'\.?\["([^"\\]+)"\]'
_PART = re.compile(rf"{_FIELD}|{_ITEM}|\.?(\[\])", re.ASCII)
_PATH = re.compile(rf"(?:{_PART.pattern})+", re.ASCII)


def parts_of(path: str) -> tuple[str, ...]:
    """Return the fields of a path; nothing for any other expression."""
    if not _PATH.fullmatch(path):
        return ()
    return tuple(field or item or EACH for field, item, _ in _PART.findall(path))
