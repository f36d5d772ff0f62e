"""Says whether objects are as they are wanted: conditions as words, or as functions."""

from collections.abc import Callable, Mapping

from kwokctl.errors import UsageError
from kwokctl.expr import jq
from kwokctl.json_value import Json

Predicate = Callable[[Mapping[str, Json]], bool]
Condition = str | Predicate
"""`exists`, `deleted`, the type of a condition as in `Ready` or `Ready=False`, a jq expression that
begins with a dot, or a function of the object."""

DELETED = "deleted"
_EXISTS = "exists"


def predicate(condition: Condition) -> Predicate:
    """Return the function that a condition means; UsageError for an invalid one."""
    if not isinstance(condition, str):
        return condition
    if condition in (_EXISTS, DELETED):
        return lambda _: True
    if condition.startswith("."):
        return _of_jq(condition)
    kind, _, status = condition.partition("=")
    if not kind.isidentifier():
        raise UsageError(
            f"'{condition}' is not a condition",
            hint="use 'exists', 'deleted', a type such as 'Ready' or 'Ready=False', a jq expression "
            "such as '.status.phase == \"Running\"', or a function",
        )
    return lambda obj: _condition(obj, kind) == (status or "True").lower()


def in_words(condition: Condition) -> str:
    """Return a condition as an error names it."""
    if isinstance(condition, str):
        return f"'{condition}'"
    return getattr(condition, "__name__", "as wanted").replace("<lambda>", "as wanted")


def _condition(obj: Mapping[str, Json], kind: str) -> str:
    """Return the status of a condition in lower case; empty if the object has none of that type."""
    for each in (obj.get("status") or {}).get("conditions") or ():
        if str(each.get("type", "")).lower() == kind.lower():
            return str(each.get("status", "")).lower()
    return ""


def _of_jq(text: str) -> Predicate:
    query = jq.compile(text)
    return lambda obj: any(query.values(obj))
