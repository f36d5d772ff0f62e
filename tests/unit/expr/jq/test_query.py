import json
import re
from collections import OrderedDict
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import jq
from kwokctl.expr.jq import compiler, jq_parser

GOLDEN = json.loads((Path(__file__).parents[3] / "golden" / "jq.json").read_text("utf-8"))
CASES = {case["text"]: case for case in GOLDEN["cases"]}
DATA = GOLDEN["data"]

COMPILED = [
    ".status.phase",
    '.metadata."name"',
    '.metadata.annotations["a/b"]',
    ".metadata.ownerReferences.[]?.kind",
    '.status.conditions.[]? | select( .type == "Ready" ) | .status',
    ".status.conditions[0].type",
    '.spec.containers[]? | select(.name != "a") | .name?',
    "select(.spec.hostNetwork)",
    '"text", 1, -1.5, true, null',
    "",
    " # only a comment",
]


@pytest.mark.parametrize("text", CASES)
def test_a_program_gives_what_gojq_gives(text: str) -> None:
    case = CASES[text]
    before = json.dumps(DATA)

    if "fails" in case:
        with pytest.raises(ExpressionError):
            jq.compile(text).run(DATA)
    else:
        results = jq.compile(text).run(DATA)
        assert json.dumps(results, sort_keys=True) == json.dumps(case["results"], sort_keys=True)
    assert json.dumps(DATA) == before, "the input is never changed"


@pytest.mark.parametrize("text", COMPILED)
def test_what_stages_are_written_in_is_compiled(text: str) -> None:
    results: list[Any] = []
    compiler.build(jq_parser.parse(text))({}, results.append)


def test_values_leaves_out_nulls() -> None:
    assert jq.compile(".[]").values([1, None, "a", False, None]) == [1, "a", False]
    assert jq.compile(".missing").values({}) == []


@pytest.mark.parametrize("text", [".[].a", ".[] | tonumber", 'error("x")', "halt"])
def test_values_is_empty_for_a_program_that_fails(text: str) -> None:
    assert jq.compile(text).values([{"a": 1}, "text"]) == []
    with pytest.raises(ExpressionError, match="jq '"):
        jq.compile(text).run([{"a": 1}, "text"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (".a |", "unexpected end, at line 1, column 5"),
        (".a b", "unexpected token 'b', at line 1, column 4"),
        (".a |\n )", "unexpected token ')', at line 2, column 2"),
        ("if . then", "unexpected end, at line 1, column 10"),
        ("[.a", "expected OP ']' but got the end, at line 1, column 4"),
        ('"\\(1)" == "x', "unterminated string literal, at line 1, column 11"),
        (r'"a\q"', "invalid escape sequence \\q in string, at line 1, column 3"),
        (".foo | foo(1)", "'foo/1' is not defined, at line 1, column 8"),
        (".a.b\n| $b", "'$b' is not defined, at line 2, column 3"),
        ("'x'", "unexpected character"),
        ("foo(1; 2)", "'foo/2' is not defined"),
        (". as $x | $y", "'$y' is not defined, at line 1, column 11"),
        ("[" * 200, "nests too deeply"),
    ],
)
def test_a_syntax_error_is_reported_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(problem)) as caught:
        jq.compile(text)
    assert f"'{text}' is not a jq program" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "def f(g; $a): g + $a + a; f(.n; 1)",
        ". as {n: $n, $m, list: [$x]} | $n, $m, $x",
        "reduce .list[] as $x (0; . + $x)",
        "[foreach .list[] as $x (0; . + $x)]",
        "label $out | .list[] | if . == 2 then ., break $out else . end",
        "$ENV | type",
    ],
)
def test_a_program_may_define_what_it_uses(text: str) -> None:
    assert jq.compile(text).run({"n": 1, "m": 2, "list": [1, 2]})


def test_a_program_is_compiled_once() -> None:
    assert jq.compile(".once.only") is jq.compile(".once.only")
    assert repr(jq.compile(".once")) == "Query('.once')"


@pytest.mark.parametrize(
    "text", [".a.b", ".a | .b", '.a["b"]', ".a[]", '.a | select(.b == "x") | .b']
)
@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_is_an_object(text: str, kind: Any) -> None:
    assert jq.compile(text).run(kind({"a": kind({"b": "x"})})) == ["x"]


def test_a_program_that_is_nested_without_sense_is_still_run() -> None:
    assert jq.compile("[0]|" + "|".join([".[]"] * 1 + ["[.]|.[]"] * 30)).run(None) == [0]
    assert jq.compile(".[]" * 25).run([]) == []
    assert jq.compile("|".join(["(.,.)"] * 3)).run(1) == [1] * 8
    assert jq.compile("|".join([".,."] * 9)).run(1) == [1] * 512


def test_parameters_are_edited_by_assignments() -> None:
    parameters = {"allocatable": {"cpu": 32}, "podCIDRs": ["10.0.0.0/24"]}
    for program in (
        '.nodeName="node-000000"',
        ".allocatable.cpu=4",
        ".allocatable.cpu += 1",
        '.podCIDRs |= map(sub("/24"; "/16"))',
        '.podCIDRs += ["fd00::/64"]',
        '.labels["a/b"] = "c"',
    ):
        [parameters] = jq.compile(program).run(parameters)

    assert parameters == {
        "allocatable": {"cpu": 5},
        "podCIDRs": ["10.0.0.0/16", "fd00::/64"],
        "nodeName": "node-000000",
        "labels": {"a/b": "c"},
    }


@pytest.mark.parametrize(
    "text",
    ["env", "$ENV", "[env][0]", "def f: env; f", ". as $x | $ENV", "reduce 1 as $x (env; .)"],
)
def test_the_environment_is_empty(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "secret")

    assert jq.compile(text).run({}) == [{}]


def test_a_field_of_the_environment_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASSWORD", "secret")

    assert jq.compile('env.PASSWORD, $ENV.PASSWORD, $ENV["PASSWORD"]').run({}) == [None] * 3
    assert jq.compile('"\\(env)" + @json "\\($ENV)"').run({}) == ["{}{}"]
    assert jq.compile("def env: 1; env").run({}) == [1]


@pytest.mark.parametrize(
    "name", ["input", "inputs", "debug", 'debug("x")', "stderr", "input_filename"]
)
def test_nothing_reaches_beyond_the_input(name: str) -> None:
    with pytest.raises(ExpressionError, match=r"is not a jq program: '\w+/\d' is not defined"):
        jq.compile(f". | {name}")


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ('"aXbx" | [match("x"; "gi").offset]', [[1, 3]]),
        ('"é\\nb" | test("é.b"), test("é.b"; "m")', [False, True]),
        (
            '"éa1" | match("(?<letter>[a-z])(?<digit>[0-9])(z)?")',
            [
                {
                    "offset": 1,
                    "length": 2,
                    "string": "a1",
                    "captures": [
                        {"offset": 1, "length": 1, "string": "a", "name": "letter"},
                        {"offset": 2, "length": 1, "string": "1", "name": "digit"},
                        {"offset": -1, "length": 0, "string": None, "name": None},
                    ],
                }
            ],
        ),
        (
            '"a1b2" | [capture("(?<l>[a-z])(?<d>\\\\d)"; "g")]',
            [[{"l": "a", "d": "1"}, {"l": "b", "d": "2"}]],
        ),
        ('"baac" | [scan("a*")]', [["", "aa", ""]]),
        ('"a, b" | [splits(", *")], split(", *"; "g")', [["a", "b"], ["a", "b"]]),
        ('"abab" | sub("b"; "c"), gsub("(?<x>b)"; "<\\(.x)>")', ["acab", "a<b>a<b>"]),
        ('"λ1" | test("^\\\\p{Greek}\\\\d$")', [True]),
        ('try ("a" | test("(")) catch .', ["'(' is not a regular expression: missing ) in '('"]),
        ('try ("a" | test("a"; "x")) catch "x"', ["x"]),
        (f'"{"a" * 60}!" | test("(a+)+$")', [False]),
    ],
)
def test_regular_expressions_are_those_of_gojq(text: str, results: list[Any]) -> None:
    assert jq.compile(text).run(None) == results


def test_others_have_the_interpreter_as_it_is() -> None:
    own: Any = import_module("purejq")

    assert own.first('try test("(?=a)a") catch 1', "a") is True
