"""What is certain before what differs per object is known."""

from collections.abc import Sequence

import msgspec
import pytest

from kwokctl.controller.stages.selectors import Requirement, Selector
from kwokctl.controller.stages.symbolic_matching import GuardedQuery, guarded, surely_differ
from kwokctl.expr.gotemplate.symbols import NotSymbolicError, Symbol, TextSymbol
from kwokctl.json_value import Json
from tests.support.stage_documents import Body, read, stage

ANY = Symbol("any")
"""A value that differs per object."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a", "b"),
        (1, 1.0),
        (1, True),
        ({"a": ANY}, {"b": ANY}),
        ({"a": ANY}, {"a": ANY, "b": ANY}),
        ({"a": ANY, "b": 1}, {"a": "x", "b": 2}),
        ({"a": ANY}, None),
        (None, {"a": ANY}),
        ([ANY], ["x", "y"]),
        ([ANY, 1], ["x", 2]),
        ([ANY], None),
        (None, [ANY]),
        ({"a": [ANY, {"b": 1}]}, {"a": ["x", {"b": 2}]}),
    ],
)
def test_values_differ_for_all_objects_whatever_else_is_in_them(before: Json, after: Json) -> None:
    assert surely_differ(before, after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a", "a"),
        (ANY, "a"),
        ("a", ANY),
        (ANY, ANY),
        ({"a": ANY, "b": 1}, {"a": "x", "b": 1}),
        ([ANY, 1], ["x", 1]),
        ({"a": [ANY, {"b": 1}]}, {"a": ["x", {"b": 1}]}),
    ],
)
def test_values_that_are_the_same_for_some_objects_do_not_surely_differ(
    before: Json, after: Json
) -> None:
    assert not surely_differ(before, after)


POD = {
    "metadata": {"name": TextSymbol("name")},
    "status": {"phase": "Pending", "any": ANY},
}


class Constant(msgspec.Struct, frozen=True):
    """An expression of another language than jq."""

    source: str = ".status.phase"

    def values(self, _: Json, /) -> Sequence[Json]:
        return ["Pending"]


def jq(key: str, operator: str, *values: str) -> Body:
    return {"jq": {"key": key, "operator": operator, **({"values": [*values]} if values else {})}}


def matches(expression: Body) -> bool:
    selector = {"matchExpressions": [expression]}
    [found] = read([stage("s", phase=None, selector=selector, template="phase: Running")])
    assert found.selector is not None
    return guarded(found.selector).matches(POD)


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        (jq(".status.phase", "In", "Pending"), True),
        (jq(".status.phase", "NotIn", "Pending"), False),
        (jq(".status.phase", "Exists"), True),
        (jq(".status.phase", "DoesNotExist"), False),
        (jq(".metadata.name", "Exists"), True),
        (jq(".metadata.name", "DoesNotExist"), False),
        (jq(".metadata.other", "DoesNotExist"), True),
    ],
)
def test_what_all_objects_share_decides_whether_a_condition_holds(
    expression: Body, holds: bool
) -> None:
    assert matches(expression) is holds


@pytest.mark.parametrize(
    "expression",
    [
        jq(".metadata.name", "In", "a"),
        jq(".metadata.name", "NotIn", "a"),
        jq(".status.any", "Exists"),
        jq(".status.any", "DoesNotExist"),
        jq('.status | select(.any == "x") | .phase', "Exists"),
        jq("select(.metadata.name == null) | .status.phase", "Exists"),
        {"cel": {"expression": "self.status.phase == 'Pending'"}},
    ],
)
def test_what_may_differ_per_object_is_not_looked_at(expression: Body) -> None:
    with pytest.raises(NotSymbolicError):
        matches(expression)


@pytest.mark.parametrize("operator", ["In", "Exists"])
def test_of_another_language_than_jq_it_is_not_known_what_is_read(operator: str) -> None:
    requirement = Requirement(Constant(), operator, frozenset({"Pending"}))

    with pytest.raises(NotSymbolicError):
        guarded(Selector(conditions=(requirement,))).matches(POD)
    with pytest.raises(NotSymbolicError):
        GuardedQuery(Constant()).values(POD)
