"""Objects that a Stage is for: examples, changed until the selector matches."""

import copy
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from kwokctl.clusters.stage_tools.linting.read_conditions import EACH, equalities, parts_of
from kwokctl.clusters.stage_tools.rules import expression_of
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.errors import ExpressionError
from kwokctl.json_value import Json

_SELECT = re.compile(r'(.+?)\s*\|\s*select\(\s*\.(\w+)\s*==\s*"([^"]*)"\s*\)\s*\|\s*\.(\w+)')
_TIME = "2026-01-01T00:00:00Z"
_OF_KUBELETS = frozenset(
    ("status", field) for field in ("phase", "containerStatuses", "initContainerStatuses")
)
"""The fields that only Stages write into the status of fake nodes and their pods."""
_PHASES = frozenset({"Failed", "Pending", "Running", "Succeeded", "Terminated", "Unknown"})
"""Those of Kubernetes' nodes and pods."""

_MayPut = Callable[[Sequence[str], Json], bool]
"""Whether an example may be changed so: the path, and the value, None for none."""


def witnesses(stage: Stage, examples: Iterable[Json]) -> Iterator[Json]:
    """Yield those examples, or changed copies of them, that a Stage is for."""
    for example in examples:
        for value in (example, _shaped(stage.selector, example, _by_anyone)):
            if matches(stage, value):
                yield value
                break


def approaches(stage: Stage, examples: Iterable[Json]) -> Iterator[Json]:
    """Yield copies of examples that are as the selector wants them but for what Stages alone write."""
    for example in examples:
        yield _shaped(stage.selector, example, _by_others)


def matches(stage: Stage, value: Json) -> bool:
    """Return whether a Stage is for an object; not where its selector fails."""
    try:
        return stage.matches(value)
    except ExpressionError:
        return False


def _by_anyone(_path: Sequence[str], _wanted: Json) -> bool:
    return True


def _by_others(path: Sequence[str], wanted: Json) -> bool:
    return wanted is None or wanted in _PHASES or tuple(path[:2]) not in _OF_KUBELETS


def _shaped(selector: Selector | None, example: Json, may_put: _MayPut) -> Json:
    value = copy.deepcopy(example)
    if selector is None:
        return value
    for field, words in (("labels", selector.labels), ("annotations", selector.annotations)):
        for key, word in words:
            _put(value, ("metadata", field, key), word)
    for rule in selector.conditions:
        _shape(value, rule, may_put)
    for expression in selector.expressions:
        for path, text in equalities(expression):
            if may_put(parts_of(path), text):
                _put(value, parts_of(path), text)
    return value


def _shape(value: Json, rule: Requirement, may_put: _MayPut) -> None:
    """Change an object so that a condition on a path holds, if it can be done with one value."""
    expression = expression_of(rule)
    chosen = _SELECT.fullmatch(expression)
    path = (*parts_of(chosen[1]), chosen[4]) if chosen else parts_of(expression)
    if rule.operator == "DoesNotExist":
        wanted = None
    elif rule.operator == "In":
        wanted = min(rule.values & _PHASES or rule.values)
    elif rule.operator == "Exists":
        wanted = _TIME if path[-1:] and path[-1].endswith(("Time", "Timestamp")) else "something"
    else:
        return
    if may_put(path, wanted):
        _put(value, path, wanted, {chosen[2]: chosen[3]} if chosen else {})


def _put(value: Json, path: Sequence[str], wanted: Json, item: Json = None) -> None:
    """Put a value at a path; None removes what is there. `item` says which item of a list is meant."""
    for part, after in pairwise(path):
        if part == EACH:
            value = _item(value, item or {})
        elif isinstance(value, dict):
            if value.get(part) is None:
                value[part] = [] if after == EACH else {}
            value = value[part]
    if not path or path[-1] == EACH or not isinstance(value, dict):
        return
    if wanted is None:
        value.pop(path[-1], None)
    else:
        value[path[-1]] = wanted


def _item(items: Json, wanted: Json) -> Json:
    """Return the item of a list that has certain fields, which is added if there is none."""
    if not isinstance(items, list):
        return {}
    found = next((each for each in items if wanted.items() <= each.items()), None)
    if found is None:
        items.append(found := dict(wanted))
    return found
