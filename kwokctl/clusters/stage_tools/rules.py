"""Finds the first rule of a Stage's selector that does not hold for an object, and words it."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.selectors import Requirement
from kwokctl.errors import ExpressionError
from kwokctl.expr.jq import JqQuery
from kwokctl.json_value import Json

_WANTED = {
    "In": "must be one of",
    "NotIn": "must be none of",
    "Exists": "must be there",
    "DoesNotExist": "must not be there",
}


def first_broken_rule(stage: Stage, value: Json) -> str:
    """Return the first rule that does not hold; an empty text if the Stage matches the object."""
    return next(_broken_rules(stage, value), "")


def expression_of(rule: Requirement) -> str:
    """Return the expression of a condition as its author wrote it."""
    return rule.query.source if isinstance(rule.query, JqQuery) else "the expression"


def _broken_rules(stage: Stage, value: Json) -> Iterator[str]:
    selector = stage.selector
    if selector is None:
        yield "it has no selector"
        return
    metadata = value.get("metadata") or {}
    yield from _other_words("label", selector.labels, metadata.get("labels") or {})
    yield from _other_words("annotation", selector.annotations, metadata.get("annotations") or {})
    for rule in selector.conditions:
        try:
            found = rule.query.values(value)
        except ExpressionError as e:
            yield str(e)
            continue
        if not rule.holds(found):
            yield _broken(rule, found, "" if found else _fault(rule, value))
    for expression in selector.expressions:
        try:
            if not expression.holds(value):
                yield f"{expression.source} is false"
        except ExpressionError as e:
            yield str(e)


def _other_words(
    what: str, wanted: Sequence[tuple[str, str]], has: Mapping[str, str]
) -> Iterator[str]:
    for key, word in wanted:
        if has.get(key) != word:
            there = f"is '{has[key]}'" if key in has else "is not there"
            yield f"{what} '{key}' {there}, and must be '{word}'"


def _fault(rule: Requirement, value: Json) -> str:
    """Return why an expression in jq fails, which finds nothing then; empty if it does not."""
    if not isinstance(rule.query, JqQuery):
        return ""
    try:
        rule.query.run(value)
    except ExpressionError as e:
        return f" ({e})"
    return ""


def _broken(rule: Requirement, found: Sequence[object], fault: str) -> str:
    has = ", ".join(map(_shown, found))
    wanted = " ".join((_WANTED[rule.operator], ", ".join(sorted(rule.values)))).strip()
    text = f"{expression_of(rule)} is {has or 'not there'}{fault}, and {wanted}"
    # A length, which jq has counted, is a text; a number that stands in the object equals none.
    if rule.operator == "In" and any(isinstance(item, float) for item in found):
        return f"{text}, which are texts; append '| tostring' to the expression"
    return text


def _shown(item: object) -> str:
    """Write what an expression has found; a number of the object as JSON has it, though it is read as 0.0."""
    return f"the number {item:.17g}" if isinstance(item, float) else f"'{item}'"
