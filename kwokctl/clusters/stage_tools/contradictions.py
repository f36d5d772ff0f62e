"""Stages that cannot be played: for no object, or never chosen."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from kwokctl.clusters.stage_tools.rules import expression_of
from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.selectors import Requirement, Selector

_ONE_RESULT = re.compile(r'(?:\.[A-Za-z_][A-Za-z0-9_]*|\.?\["[^"]*"\])+', re.ASCII)
"""A path, which finds one value at most; other expressions may find several."""
_EXCLUDES = {("Exists", "DoesNotExist"), ("In", "DoesNotExist")}


def contradictions(selector: Selector) -> Iterator[tuple[int, str]]:
    """Yield each condition that cannot hold together with an earlier one, by its place, and why."""
    for (_, first), (index, second) in combinations(enumerate(selector.conditions), 2):
        if expression_of(first) == expression_of(second) and _exclude(first, second):
            yield index, f"cannot hold: another condition says '{_in_words(first)}' of the same"


def shadowing(stage: Stage, others: Iterable[Stage]) -> str:
    """Return the name of a Stage that is always chosen in place of this one; empty if none is.

    A Stage without weight is never chosen where another has some.
    """
    if stage.weight > 0 or stage.weight_from is not None or stage.selector is None:
        return ""
    wider = (
        other.name
        for other in others
        if other is not stage and other.kind == stage.kind and _always_weighs(other)
        if other.selector is not None and _is_within(stage.selector, other.selector)
    )
    return next(wider, "")


def _exclude(first: Requirement, second: Requirement) -> bool:
    operators = (first.operator, second.operator)
    if operators in _EXCLUDES or operators[::-1] in _EXCLUDES:
        return True
    if operators == ("In", "In"):
        is_one = _ONE_RESULT.fullmatch(expression_of(first)) is not None
        return is_one and not first.values & second.values
    if operators == ("In", "NotIn"):
        return first.values <= second.values
    return operators == ("NotIn", "In") and second.values <= first.values


def _in_words(rule: Requirement) -> str:
    return " ".join((rule.operator, ", ".join(sorted(rule.values)))).strip()


def _always_weighs(stage: Stage) -> bool:
    return stage.weight > 0 and stage.weight_from is None


def _is_within(narrow: Selector, wide: Selector) -> bool:
    """Return whether the wide selector certainly matches everything that the narrow one matches."""
    return (
        set(wide.labels) <= set(narrow.labels)
        and set(wide.annotations) <= set(narrow.annotations)
        and all(_is_one_of(rule, narrow.conditions) for rule in wide.conditions)
        and {each.source for each in wide.expressions}
        <= {each.source for each in narrow.expressions}
    )


def _is_one_of(rule: Requirement, rules: Sequence[Requirement]) -> bool:
    return any(
        (expression_of(each), each.operator, each.values)
        == (expression_of(rule), rule.operator, rule.values)
        for each in rules
    )
