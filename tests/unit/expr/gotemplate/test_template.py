import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from kwokctl.errors import ConflictError, ExpressionError
from kwokctl.expr import gotemplate

GOLDEN_DIR = Path(__file__).parents[3] / "golden"
NOW = {"Now": lambda: "2026-01-02T03:04:05.500000000Z"}


def _golden(name: str) -> list[Any]:
    golden = json.loads((GOLDEN_DIR / f"{name}.json").read_text("utf-8"))
    return [pytest.param(case, golden["data"], id=case["text"]) for case in golden["cases"]]


def _render(text: str, data: Any = None, **functions: Any) -> str:
    return gotemplate.compile(text).render(data, functions)


@pytest.mark.parametrize(("case", "data"), _golden("gotemplate") + _golden("sprig"))
def test_a_template_writes_what_go_writes(case: dict[str, str], data: Any) -> None:
    before = json.dumps(data)

    if "fails" in case:
        with pytest.raises(ExpressionError, match=r"template 'golden', line \d+, column \d+: "):
            gotemplate.compile(case["text"], name="golden").render(data, NOW)
    else:
        assert gotemplate.compile(case["text"]).render(data, NOW) == case["result"]
    assert json.dumps(data) == before


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("{{.null.x.y}}", "<no value>"),
        ('{{eq .null "x"}} {{eq .missing "x"}} {{eq .missing.x "x"}}', "false false false"),
        ("{{fromYaml .yaml | toYaml}}", "a: 1"),
    ],
)
def test_some_things_are_better_than_in_kwok_on_purpose(text: str, written: str) -> None:
    data = {"null": None, "yaml": "{a: 1}"}

    assert _render(text, data) == written


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a\n  {{ nope 1 }}", "line 2, column 6", "function 'nope' is not defined"),
        ("{{ .s.t }}", "line 1, column 4", "there is no field or method 't' in the text 'str'"),
        ("\n\n{{ eq .s 1 }}", "line 3, column 4", "the text 'str' and the number 1 cannot be"),
        ("{{ if .s }}x{{ .s", "line 1, column 13", "the action is not closed"),
        ('{{ "x }}', "line 1, column 4", "a quoted string is not closed"),
        ("{{ ! }}", "line 1, column 4", "'!' is unexpected here"),
        ("{{ $y }}", "line 1, column 4", "variable '\\$y' is not defined"),
        ("{{ len 1 2 }}", "line 1, column 4", "'len' is called with the wrong number of values"),
        ("{{ Quote }}{{ Quote 1 2 }}", "line 1, column 4", "'Quote' is called with the wrong"),
        ("{{ if .s }}", "line 1, column 4", "'if' has no 'end'"),
        ("{{ range .l }}\n{{ . | upper }}{{ end }}", "line 2, column 4", "the number of the object 1 is not a string"),
        ('{{ define "a" }}{{ .x.y.z }}\n{{ len 5 }}{{ end }}{{ template "a" }}', "line 2", "the number 5 has"),
        ('{{ fail "boom" }}', "line 1, column 4", "boom"),
        ('{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" }}', "line 1", "without end"),
        ("{{ Given 1 }}", "line 1, column 4", "called with the wrong number of values"),
        ("{{ Broken }}", "line 1, column 4", "KeyError: 'key'"),
        ("{{ now }}", "line 1, column 4", "function 'Now' is not defined"),
        ("{{ /* x */ }}", "line 1, column 1", "a comment must be the whole of its braces"),
        ('{{ repeat 999999999 "ab" }}', "line 1", "'repeat' cannot make a text of that length"),
        ("{{ until 99999999 }}", "line 1", "too long"),
        ('{{ regexMatch "(" "x" }}', "line 1", "'\\(' is not a regular expression"),
        ("{{ 99e999 }}", "line 1, column 4", "too large a number"),
        ('{{ "\\ud800" }}', "line 1, column 4", "is not a character"),
        ('{{ printf "%p" .m }}', "line 1", "the address of a value in memory"),
        ("\n {{ (now).Nope }}", "line 2, column 5", "no field or method 'Nope' in a time.Time"),
        ('{{ "x" | now.Add }}', "line 1, column 4", "'Add' of a time.Time: it needs a whole number"),
        ("{{ .s 1 }}", "line 1, column 4", "there is no field or method 's' in a map"),
        ("{{ $x := .s }}{{ $x 1 }}", "line 1, column 18", "is not a function, and takes no arguments"),
        ("{{ date `2006` .s }}", "line 1", "is not a time: Sprig would take the time now"),
    ],
)  # fmt: skip
def test_an_error_names_the_place(text: str, place: str, problem: str) -> None:
    def given() -> str:
        return ""

    def broken() -> str:
        empty: dict[str, str] = {}
        return empty["key"]

    functions: dict[str, Callable[..., str]] = {"Given": given, "Broken": broken}
    with pytest.raises(ExpressionError, match=f"template 'mine', {place}.*: .*{problem}"):
        gotemplate.compile(text, name="mine").render(
            {"s": "str", "l": [1], "m": {}}, {**functions, **(NOW if text != "{{ now }}" else {})}
        )


def test_an_error_names_the_place_when_an_object_is_made_too() -> None:
    template = gotemplate.compile("a: 1\nb: {{ .b.c }}", name="mine")
    assert template.render_object({"b": {}}, {}) == {"a": 1, "b": "<no value>"}

    with pytest.raises(
        ExpressionError, match="template 'mine', line 2, column 7: there is no field"
    ):
        template.render_object({"b": 1}, {})


def test_the_callers_functions_are_called_with_values() -> None:
    functions: dict[str, Callable[..., Any]] = {
        "NodeIPWith": lambda name: f"ip of {name}",
        "Sum": lambda *n: sum(n),
    }
    template = gotemplate.compile(
        '{{ .n | NodeIPWith }} {{ Sum 1 2 | Sum 3 }} {{ with NodeIPWith "a" }}{{ . }}{{ end }}'
    )

    assert template.render({"n": "x"}, functions) == "ip of x 6 ip of a"
    assert template.required == {"NodeIPWith", "Sum"}


def test_an_error_of_the_callers_functions_keeps_its_kind() -> None:
    def taken() -> None:
        raise ConflictError("all addresses are taken")

    def wrong() -> None:
        raise ExpressionError("a wrong network", hint="write another")

    with pytest.raises(ConflictError, match=r"^all addresses are taken$"):
        _render("{{ Take }}", Take=taken)
    with pytest.raises(ExpressionError, match="line 1, column 4: a wrong network") as caught:
        _render("{{ Take }}", Take=wrong)
    assert caught.value.hint == "write another"


def test_a_template_is_compiled_once_for_a_text_and_name() -> None:
    assert gotemplate.compile("once") is gotemplate.compile("once")
    assert gotemplate.compile("once", name="other") is not gotemplate.compile("once")
    assert repr(gotemplate.compile("once", name="other")) == "Template('other')"


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_and_sequence_is_data(kind: Any) -> None:
    data = kind({"a": kind({"b": ("x", "y")})})
    text = "{{ .a.b }}{{ range $k, $v := .a }}{{ $k }}{{ index $v 0 }}{{ end }}{{ len .a }}{{ toJson . }}"

    assert _render(text, data) == '[x y]bx1{"a":{"b":["x","y"]}}'


def test_deep_nesting_is_an_error_and_no_crash() -> None:
    text = "{{ if . }}" * 200 + "{{ end }}" * 200

    with pytest.raises(ExpressionError, match="nested too deeply"):
        gotemplate.compile(text)


def test_a_list_that_grows_out_of_itself_is_an_error_and_no_crash() -> None:
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(ExpressionError, match="line 1"):
        _render("{{ . }}", endless)
