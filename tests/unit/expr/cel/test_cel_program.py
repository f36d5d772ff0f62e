""""""

import json
from pathlib import Path
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import cel
from kwokctl.expr.cel.environments import stage_environment
from kwokctl.expr.cel.values.cel_times import CelDuration
from kwokctl.expr.cel.values.quantities import parse_quantity
from tests.support.cel_answers import plain

GOLDEN = Path(__file__).parents[3] / "golden"
SECOND = 1_000_000_000
NODE = {
    "metadata": {"name": "n", "creationTimestamp": "2026-01-02T03:04:05Z"},
    "status": {"allocatable": {"cpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


def evaluate(text: str, value: Any = None, kind: cel.StructKind | None = None) -> Any:
    return cel.compile_cel(text, kind).evaluate({} if value is None else value)


def test_a_program_is_compiled_once_for_a_kind() -> None:
    assert cel.compile_cel("1 + 1") is cel.compile_cel("1 + 1")
    assert cel.compile_cel("1 + 1") is not cel.compile_cel("1 + 1", "Pod")
    assert repr(cel.compile_cel("1 + 1")) == "CelProgram('1 + 1')"


@pytest.mark.parametrize("name", ["cel", "cel_random"])
def test_the_careful_way_gives_the_same_result_as_the_fast_one(name: str) -> None:
    golden = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    for case in golden["cases"]:
        if "type" in case and "Now" not in case["text"] and "Rand" not in case["text"]:
            kind = case["kind"] if case["kind"] in {"Node", "Pod"} else None
            program, value = cel.compile_cel(case["text"], kind), golden["objects"][case["kind"]]
            assert plain(program._careful.function(value)) == plain(program.evaluate(value)), case[
                "text"
            ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("self.kind", "a Pod has no field 'kind', at line 1, column 5"),
        ("self.\nspec.nope", "a PodSpec has no field 'nope', at line 2, column 5"),
        ("nope == 1", "there is no variable 'nope', at line 1, column 1"),
        ("1 + foo(1)", "there is no function 'foo', at line 1, column 8"),
        ("1 + 'a'", "'+' does not take (int, string), at line 1, column 3"),
        ("self.spec.priority && true", "must be true or false, and is of the type int, at line 1,"),
        (
            "[1].exists(x.y, true)",
            "the first argument of 'exists' names the item, as in exists(x, …)",
        ),
        ("has(self)", "'has' tests whether a field is set, as in has(self.metadata), at line 1,"),
        ("v1.Pod{}", "messages such as 'v1.Pod{}' cannot be made, at line 1, column 7"),
        ("self.?spec", "kwok does not support optional values, at line 1, column 5"),
        ("'abc", "a quoted string is not closed, at line 1, column 1"),
        ("'\\q'", "the escape '\\q' does not exist, at line 1, column 1"),
        ("1 $ 2", "'$' is unexpected here, at line 1, column 3"),
        ("(1", "')' is missing before the end, at line 1, column 3"),
        ("1 +", "this place cannot have the end, at line 1, column 4"),
        ("let", "'let' is a reserved word, at line 1, column 1"),
        (
            "'a'.all(x, true)",
            "a value of the type string cannot be iterated over, at line 1, column 1",
        ),
        (
            "self.metadata.name.matches('a(?=b)')",
            "invalid perl operator in '(?=', at line 1, column 28",
        ),
        (
            "matches(self.metadata.name, r'(a)\\1')",
            "invalid escape sequence in '\\1', at line 1, column 29",
        ),
        ("self.status.x + nope", "a PodStatus has no field 'x', at line 1, column 12"),
        ("9223372036854775808", "9223372036854775808 has more than 64 bits, at line 1, column 1"),
        ("self.spec.containers[0].resources.limits.cpu", "['cpu'], at line 1, column 41"),
    ],
)
def test_a_syntax_error_is_reported_with_line_and_column(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        cel.compile_cel(text, "Pod")

    assert str(caught.value).startswith(f"'{text}' is not a CEL expression: ")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("self.spec", "there is no field 'spec'"),
        ("[1][1]", "there is no item 1 in a list of 1"),
        ("1 / 0", "division by zero"),
        ("9223372036854775807 + 1", "the integer is too large: it has more than 64 bits"),
        ("duration('x')", "'x' is not a duration"),
        ("timestamp('x')", "'x' is not a time"),
        ("Quantity('x')", "'x' is not a quantity"),
        ("Quantity('1e99999999')", "the quantity '1e99999999' is too large, or too exact"),
        (f"Quantity('{'9' * 5000}')", f"the quantity '{'9' * 40}' is too large, or too exact"),
        (f"int('{'9' * 5000}')", f"'{'9' * 5000}' cannot be made a value of the type int"),
        (f"uint('{'9' * 5000}')", f"'{'9' * 5000}' cannot be made a value of the type uint"),
        ("'a'.matches(['('][0])", "'(' is not a regular expression: missing ) in '('"),
        ("dyn(1) + 'a'", "'+' does not take values of these types"),
        ("timestamp(0).getHours('Nowhere')", "'Nowhere' is not a time zone"),
    ],
)
def test_a_runtime_error_is_reported_with_the_expression(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text)

    assert str(caught.value).startswith(f"CEL '{text}': {said}")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("self.a == 1 &&\n  self.b.c == 'x'", "line 2, column 9"),
        ("self.a / self.zero == 1", "line 1, column 8"),
        ("[0, 1].all(each, self.list[each] > 0)", "line 1, column 27"),
        ("self.list.map(each, each.name)", "line 1, column 25"),
        ("'#1' + self.text + self.a", "line 1, column 18"),
    ],
)
def test_a_runtime_error_is_reported_with_the_part_that_fails(text: str, place: str) -> None:
    value = {"a": 1, "b": {}, "list": [1], "zero": 0, "text": "#2"}

    with pytest.raises(ExpressionError) as caught:
        evaluate(text, value)

    assert str(caught.value).endswith(f", at {place}")


@pytest.mark.parametrize(
    "text", ["(" * 500 + "1" + ")" * 500, "!" + "(!" * 150 + "true" + ")" * 150]
)
def test_what_is_nested_too_deeply_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="is nested too deeply"):
        cel.compile_cel(text)


def test_the_fields_of_all_structs_are_known_and_absent_ones_have_gos_zeros() -> None:
    ready = "self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')"

    assert evaluate(ready, NODE, "Node") is True
    assert evaluate(ready, {}, "Node") is False
    assert evaluate("self.status.podIP == '' && self.spec.priority == null", {}, "Pod") is True
    assert evaluate("self.status.capacity['cpu']", {}, "Node") == parse_quantity("0")


def test_comparisons_of_quantities_are_conditions() -> None:
    text = "self.status.allocatable['cpu'] >= Quantity('4000m') && self.metadata.name == 'n'"

    assert evaluate(text, NODE, "Node") is True


def test_an_error_that_does_not_decide_is_left_out() -> None:
    assert evaluate("self.a == 1 || true") is True
    assert evaluate("self.a == 1 && false") is False
    assert evaluate("[0, 2].exists(x, 4 / x == 2)") is True
    assert evaluate("[0, 2].all(x, 4 / x == 1)") is False
    with pytest.raises(ExpressionError, match="there is no field 'a'"):
        evaluate("self.a == 1 || false")


def test_time_and_chance_are_those_of_the_environment() -> None:
    environment = stage_environment(
        "Node", clock=lambda: 1_767_323_105 * SECOND, chance=lambda: 0.5
    )

    def found(text: str) -> Any:
        return cel.CelProgram(text, environment).evaluate(NODE)

    assert found("self.SinceSecond()") == 60.0
    assert found("Now() - self.metadata.creationTimestamp") == CelDuration(60 * SECOND)
    assert found("Rand()") == 0.5
    assert found("UnixSecond(Now())") == 1_767_323_105.0


def test_names_that_mean_something_in_python_are_just_names() -> None:
    assert evaluate("[1].map(lambda, lambda + 1)") == [2]
    assert evaluate("self.class.import", {"class": {"import": "x"}}) == "x"
    with pytest.raises(ExpressionError, match="no function '__import__'"):
        evaluate("__import__('os')")
    with pytest.raises(ExpressionError, match="no variable 'select'"):
        evaluate("select")
    with pytest.raises(ExpressionError, match="there is no field '__class__'"):
        evaluate("self.a.__class__", {"a": "x"})


@pytest.mark.parametrize("text", ["'\\'; x'", "'{0} {x}'", "'%s'", "r'\\'", "'\\u0000'"])
def test_a_text_is_never_code(text: str) -> None:
    assert isinstance(evaluate(f"{text} + self.a", {"a": "}{"}), str)
    assert evaluate(f"self.a.contains({text})", {"a": "}{"}) is False


def test_what_is_nested_too_deeply_for_the_careful_way_alone_is_an_error_of_the_expression() -> (
    None
):
    text = "self.nope" + " || (true && self.nope" * 60 + ")" * 60

    with pytest.raises(ExpressionError, match=r"nested too deeply|there is no field"):
        evaluate(text)


def test_values_that_are_nested_too_deeply_are_an_error_of_the_expression() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(ExpressionError, match="it is nested too deeply"):
        evaluate("self.a == self.b", {"a": deep, "b": [deep[0]]})
