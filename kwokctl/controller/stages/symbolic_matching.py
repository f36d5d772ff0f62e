"""Matches Stages with an object in which symbols stand for values that differ between objects. Pure.

What the Stages look at must be the same for all of them, else NotSymbolicError is raised.
"""

from collections.abc import Sequence

import msgspec

from kwokctl.controller.stages.selectors import FieldQuery, Requirement, Selector
from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol, holds_symbol, refuse
from kwokctl.expr.jq import JqQuery
from kwokctl.expr.jq.dependence import reaches
from kwokctl.json_value import Json
from kwokctl.kube.patching.equality import is_same
from kwokctl.replacing import replace


class GuardedQuery(msgspec.Struct, frozen=True):
    """An expression that refuses to read values that differ per object."""

    query: FieldQuery

    def values(self, value: Json, /) -> Sequence[Json]:
        """Run the expression; NotSymbolicError if it may read a symbol."""
        query = self.query
        if not isinstance(query, JqQuery) or reaches(query.source, value, holds_symbol):
            refuse()
        return query.values(value)


class _Presence(msgspec.Struct, frozen=True):
    """An expression that is only asked whether it finds something: every text is something."""

    query: FieldQuery

    def values(self, value: Json, /) -> Sequence[Json]:
        query = self.query
        if not isinstance(query, JqQuery) or reaches(
            query.source, value, holds_symbol, _may_be_null
        ):
            refuse()
        return query.values(value)


class _Refused(msgspec.Struct, frozen=True):
    """A condition in CEL; it is not known which values it reads."""

    source: str

    def holds(self, value: Json, /) -> bool:
        return refuse()


def guarded(selector: Selector) -> Selector:
    """Return a selector that refuses to look at values that differ per object."""
    conditions = tuple(map(_guarded, selector.conditions))
    expressions = tuple(_Refused(each.source) for each in selector.expressions)
    return replace(selector, conditions=conditions, expressions=expressions)


def _may_be_null(value: Json) -> bool:
    return isinstance(value, Symbol) and not isinstance(value, TextSymbol)


def _guarded(requirement: Requirement) -> Requirement:
    is_of_presence = requirement.operator in {"Exists", "DoesNotExist"}
    guard = _Presence if is_of_presence else GuardedQuery
    return replace(requirement, query=guard(requirement.query))


def surely_differ(before: Json, after: Json) -> bool:
    """Return whether two values differ for all objects, whatever their symbols represent."""
    if isinstance(before, Symbol) or isinstance(after, Symbol):
        return False
    if isinstance(before, dict) and isinstance(after, dict):
        names = before.keys() | after.keys()
        return before.keys() != after.keys() or any(
            surely_differ(before[name], after[name]) for name in names
        )
    if isinstance(before, list) and isinstance(after, list):
        return len(before) != len(after) or any(map(surely_differ, before, after))
    return not is_same(before, after)
