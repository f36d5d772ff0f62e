"""Expressions over nodes: their variables, their values, and what is wrong with one."""

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.faults.targets.node_expressions import VARIABLES, compile_where
from tests.support.fault_targets import candidate_node, pod

NODE = candidate_node(
    "gpu-7",
    pod("default/a", 0, 3),
    pod("default/b", 3),
    gpus=4,
    place={
        "rack": "r3",
        "leaf": "l1",
        "spine": "s1",
        "zone": "z1",
        "core": "c1",
        "feed": "f1",
        "domain": "d1",
    },
    labels={"team": "a", "example.com/pool": "gold"},
    annotations={"note": "old"},
    shape="dgx-h100",
    is_ready=False,
    is_cordoned=True,
)
HOLDS = (
    'name == "gpu-7"', 'labels.team == "a"', 'labels["example.com/pool"] == "gold"', 'annotations.note == "old"',
    'rack == "r3"', 'leaf == "l1"', 'spine == "s1"', 'zone == "z1"', 'core == "c1"', 'feed == "f1"', 'domain == "d1"',
    'shape == "dgx-h100"', "gpus == 4", "busy == 2", "!ready", "cordoned", "pods == 2",
)  # fmt: skip


@pytest.mark.parametrize("source", HOLDS)
def test_each_variable_has_its_value(source: str) -> None:
    assert compile_where(source).holds(NODE)
    assert not compile_where(f"!({source})").holds(NODE)


def test_no_variable_is_without_a_test() -> None:
    assert len(VARIABLES) == len(HOLDS) - 1  # of `labels` there are two
    assert all(any(name in source for source in HOLDS) for name in VARIABLES)


@pytest.mark.parametrize(
    "level", ["rack", "leaf", "spine", "zone", "core", "feed", "domain", "shape"]
)
def test_a_node_without_a_place_has_empty_units(level: str) -> None:
    assert compile_where(f'{level} == ""').holds(candidate_node("n"))


@pytest.mark.parametrize(
    "source",
    ['rack == "r3" && gpus > 0', 'name.matches("^gpu-[0-9]$")', '"team" in labels', 'rack in ["r1", "r3"]',
     '[1, 2].exists(n, n == busy)', 'name.startsWith("gpu-") && !(shape in ["h200"])'],
)  # fmt: skip
def test_expressions_of_the_documentation_hold(source: str) -> None:
    assert compile_where(source).holds(NODE)


@pytest.mark.parametrize(
    ("source", "problem", "hint"),
    [
        ('rak == "r3"', "'rak == \"r3\"' is not a CEL expression: there is no variable 'rak', at line 1, column 1",
         "did you mean 'rack'? there are: name, labels"),
        ("xyz > 1", "'xyz > 1' is not a CEL expression: there is no variable 'xyz', at line 1, column 1",
         "there are: name, labels"),
        ("rack == 3", "'rack == 3' is not a CEL expression: '==' does not take (string, int), at line 1, column 6",
         "for example: rack == "),
        ("rack ==", "'rack ==' is not a CEL expression: this place cannot have the end, at line 1, column 8",
         "for example: rack == "),
        ("gpus", "'gpus' gives a value of type int, not true or false", "for example: rack == "),
        ('"r3"', "'\"r3\"' gives a value of type string, not true or false", "for example: rack == "),
    ],
)  # fmt: skip
def test_what_is_no_condition_is_refused(source: str, problem: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_where(source)

    assert str(raised.value) == problem
    assert (raised.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("source", "problem", "hint"),
    [
        ('labels["a"] == "3"', "CEL 'labels[\"a\"] == \"3\"': there is no key 'a', at line 1, column 7, for the node 'gpu-7'",
         "ask first whether a key is there: "),
        ("dyn(gpus)", "CEL 'dyn(gpus)' gives 4, not true or false, for the node 'gpu-7'", "for example: rack == "),
    ],
)  # fmt: skip
def test_what_has_no_answer_for_a_node_names_the_node(source: str, problem: str, hint: str) -> None:
    with pytest.raises(ExpressionError) as raised:
        compile_where(source).holds(NODE)

    assert str(raised.value) == problem
    assert (raised.value.hint or "").startswith(hint)


def test_an_expression_may_not_take_for_ever() -> None:
    numbers = f"[{','.join(map(str, range(100)))}]"
    loops = f"{numbers}.all(a, {numbers}.all(b, {numbers}.all(c, a + b + c >= 0)))"

    with pytest.raises(
        ExpressionError, match="it takes more than 100,000 steps, for the node 'gpu-7'"
    ):
        compile_where(loops).holds(NODE)


@pytest.mark.parametrize(
    ("source", "depends"),
    [
        ("busy == 0", True), ("ready || pods < 3", True), ("gpus > 0 && ready", False), ('labels["pods"] == "x"', False),
        ('["a"].all(pods, pods == "a")', False), ('["a"].all(x, x == "a" && pods > 1)', True),
        ('[pods].all(pods, pods > 1)', True), ('"busy" in labels', False),
    ],
)  # fmt: skip
def test_an_expression_knows_whether_it_asks_for_pods(source: str, depends: bool) -> None:
    assert compile_where(source).depends_on_pods is depends
