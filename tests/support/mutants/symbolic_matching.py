"""What decides whether Stages look at the same of all objects of a shape."""

from kwokctl.controller.stages.symbolic_matching import (
    GuardedQuery,
    _guarded,
    _may_be_null,
    _Presence,
    _Refused,
    guarded,
    surely_differ,
)
from tests.support.mutants.mutant import Mutant

_LENGTHS = "len(before) != len(after)"

MUTANTS = (
    # What expressions read.
    Mutant(GuardedQuery.values, "not isinstance(query, JqQuery) or ", ""),
    Mutant(GuardedQuery.values, "reaches(query.source, value, holds_symbol)", "False"),
    Mutant(GuardedQuery.values, "reaches(query.source, value, holds_symbol)", "True"),
    Mutant(_Presence.values, "not isinstance(query, JqQuery) or ", ""),
    Mutant(_Presence.values, ", _may_be_null", ""),
    Mutant(_Presence.values, "holds_symbol, _may_be_null", "_may_be_null"),
    Mutant(_may_be_null, "isinstance(value, Symbol) and ", ""),
    Mutant(_may_be_null, " and not isinstance(value, TextSymbol)", ""),
    Mutant(_may_be_null, "isinstance(value, Symbol) and not isinstance(value, TextSymbol)", "False"),
    # Which conditions are guarded, and how.
    Mutant(_Refused.holds, "refuse()", "True"),
    Mutant(guarded, "tuple(map(_guarded, selector.conditions))", "selector.conditions"),
    Mutant(guarded, "tuple(_Refused(each.source) for each in selector.expressions)", "selector.expressions"),
    Mutant(_guarded, '{"Exists", "DoesNotExist"}', '{"Exists"}'),
    Mutant(_guarded, '{"Exists", "DoesNotExist"}', '{"DoesNotExist"}'),
    Mutant(_guarded, "if is_of_presence else", "if True else"),
    # Which values differ.
    Mutant(surely_differ, "isinstance(before, Symbol) or ", ""),
    Mutant(surely_differ, " or isinstance(after, Symbol)", ""),
    Mutant(surely_differ, "isinstance(before, dict) and ", ""),
    Mutant(surely_differ, " and isinstance(after, dict)", ""),
    Mutant(surely_differ, "before.keys() != after.keys() or any(", "any("),
    Mutant(surely_differ, "before.keys() != after.keys() or any(", "before.keys() != after.keys() or all("),
    Mutant(surely_differ, "isinstance(before, list) and ", ""),
    Mutant(surely_differ, " and isinstance(after, list)", ""),
    Mutant(surely_differ, f"{_LENGTHS} or ", ""),
    Mutant(surely_differ, f"{_LENGTHS} or any(map(surely_differ, before, after))", _LENGTHS),
    Mutant(surely_differ, "any(map(", "all(map("),
    Mutant(surely_differ, "not is_same(before, after)", "before != after"),
)  # fmt: skip
"""One for each condition and comparison."""
