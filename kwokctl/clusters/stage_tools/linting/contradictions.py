"""Stages that cannot be played: for no object, or never chosen."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec

from kwokctl.clusters.stage_tools.linting.read_conditions import (
    EACH,
    equalities,
    fixed_truth,
    parts_of,
)
from kwokctl.clusters.stage_tools.rules import expression_of
from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.expr.jq import jq_parser

_IS_WHOLE = re.compile(r"[0-9]+\Z").match
_EXCLUDES = {("Exists", "DoesNotExist"), ("In", "DoesNotExist")}


class Places(NamedTuple):
    """The indexes of a selector's conditions in `matchExpressions`."""

    jq: Sequence[int]
    cel: Sequence[int]


def place_of(index: int) -> str:
    """Return the path of one of `matchExpressions`."""
    return f"spec.selector.matchExpressions[{index}]"


class _Rule(msgspec.Struct, frozen=True):
    """The values that one condition allows."""

    index: int
    """The index in `matchExpressions`; -1 for a label or an annotation."""
    value: tuple[str, ...]
    """The path of what it finds; of another expression, which may find several values, its text."""
    operator: str
    words: frozenset[str]
    text: str


def contradictions(selector: Selector, places: Places) -> Iterator[tuple[str, str]]:
    """Yield the place of each condition that cannot hold together with an earlier one, and why."""
    rules = sorted(_rules(selector, places), key=lambda rule: rule.index)
    for first, second in combinations(rules, 2):
        if first.value == second.value and _exclude(first, second):
            yield (
                place_of(second.index),
                f"cannot hold: it contradicts another condition, '{first.text}'",
            )


def never_holding(selector: Selector, places: Places) -> Iterator[tuple[str, str]]:
    """Yield the place of each condition that holds for no object, whatever it is, and why."""
    for rule, index in zip(selector.conditions, places.jq, strict=True):
        if _is_fixed(rule) and not rule.holds(rule.query.values({})):
            yield (
                place_of(index),
                "never holds: its expression returns the same value for every object",
            )
        elif _counts(rule) and rule.operator == "In" and not any(map(_IS_WHOLE, rule.values)):
            yield (
                place_of(index),
                "never holds: its expression returns a number, and values are strings",
            )
    for expression, index in zip(selector.expressions, places.cel, strict=True):
        if fixed_truth(expression) is False:
            yield place_of(index), "is false for every object"


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


def _rules(selector: Selector, places: Places) -> Iterator[_Rule]:
    for field, words in (("labels", selector.labels), ("annotations", selector.annotations)):
        for key, word in words:
            yield _Rule(-1, ("metadata", field, key), "In", frozenset({word}), f"In {word}")
    for rule, index in zip(selector.conditions, places.jq, strict=True):
        text = " ".join((rule.operator, ", ".join(sorted(rule.values)))).strip()
        source = expression_of(rule)
        yield _Rule(index, parts_of(source) or (EACH, source), rule.operator, rule.values, text)
    for expression, index in zip(selector.expressions, places.cel, strict=True):
        for path, word in equalities(expression):
            if word:  # an absent field of a struct equals an empty text
                yield _Rule(index, parts_of(path), "In", frozenset({word}), f"== '{word}'")


def _exclude(first: _Rule, second: _Rule) -> bool:
    operators = (first.operator, second.operator)
    if operators in _EXCLUDES or operators[::-1] in _EXCLUDES:
        return True
    if operators == ("In", "In"):
        return EACH not in first.value and not first.words & second.words
    if operators == ("In", "NotIn"):
        return first.words <= second.words
    return operators == ("NotIn", "In") and second.words <= first.words


def _is_fixed(rule: Requirement) -> bool:
    """Return whether an expression is independent of the object."""
    try:
        steps = jq_parser.parse(expression_of(rule))
    except jq_parser.NotCompiledError:
        return False
    return bool(steps) and isinstance(steps[0], jq_parser.Constant)


def _counts(rule: Requirement) -> bool:
    """Return whether an expression gives nothing but whole numbers."""
    return re.search(r"\|\s*length\s*$", expression_of(rule)) is not None


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
