from collections.abc import Callable
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import gotemplate
from kwokctl.expr.gotemplate.symbol_calls import SAYS_THE_SAME
from kwokctl.expr.gotemplate.symbols import (
    Compiler,
    NotSymbolicError,
    Symbol,
    TextSymbol,
    deferring,
    stripped,
)

DATA = {"prefix": "p", "list": ["a", "b", "c", "d"], "map": {"k": "v"}}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Now": lambda: "2026-01-01T00:00:00Z",
    "Twice": lambda value: value * 2,
}


def name(number: int) -> str:
    return f"n-{number:02d}"


def itself(number: int) -> int:
    return number


def symbolic(template: str) -> Any:
    compiled = gotemplate.compile(template)
    return compiled.render_symbols(DATA, FUNCTIONS, ("Name", "Index"))


def known(template: str, number: int) -> Any:
    own = {"Name": lambda: name(number), "Index": lambda: number}
    return gotemplate.compile(template).render_object(DATA, {**FUNCTIONS, **own})


def filled(value: Any, number: int) -> Any:
    if isinstance(value, Symbol):
        compiler: Compiler[int] = Compiler({"Name": name, "Index": itself})
        return compiler.function(value)(number)
    if isinstance(value, dict):
        return {key: filled(item, number) for key, item in value.items()}
    return [filled(item, number) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "written",
    [
        "{{ Quote Name }}",
        "{{ Name }}",
        "{{ Index }}",
        "{{ Name }}-x.{{ Index }}",
        '"{{ Name }}: {{ Index }}"',
        "'{{ Name }}'",
        "{{ Quote Index }}",
        "{{ Name | quote }}",
        "{{ Name | upper | quote }}",
        '{{ printf "/%s/%03d" Name Index | Quote }}',
        "{{ print Index .prefix Index }}",
        "{{ add Index Index 1 }}",
        "{{ Twice Index }}",
        "{{ index .list Index }}",
        "{{ mod Index 2 | eq 1 }}",
        "{{ len Name }}",
        "{{ eq Name .prefix }}",
        '{{ Quote (ternary "odd" "even" (mod Index 2 | eq 1)) }}',
        "{{ $n := Name }}{{ $n = print $n .prefix }}{{ Quote $n }}",
        '{{ template "inner" Name }}{{ define "inner" }}{{ Quote . }}{{ end }}',
        "{{ with .map }}{{ range $k, $v := . }}{{ Quote (print $k $v Name) }}{{ end }}{{ end }}",
        '{{ toJson (dict "name" Name "index" Index) }}',
        "{{ YAML (list Name Index) 2 }}",
        "{{ Name | b64enc | Quote }}",
        "{{ now | date (print Index) }}",
        "|\n    first {{ Name }}\n    {{ Index }}\n  b: {{ Now }}",
        "[{{ Name }}, {{ Index }}]",
        "1{{ Index }}",
        "{{ Quote .list }}",
    ],
)
@pytest.mark.parametrize("number", [0, 3])
def test_one_rendering_gives_what_each_would(written: str, number: int) -> None:
    template = f"a:\n  value: {written}\n"

    assert filled(symbolic(template), number) == known(template, number)


@pytest.mark.parametrize(
    "template",
    [
        "{{ if Index }}a: 1{{ end }}",
        "{{ if not Index }}a: 1{{ end }}",
        '{{ if eq Name "n-00" }}a: 1{{ end }}',
        "{{ if and .prefix Index }}a: 1{{ end }}",
        "a: {{ or Name .prefix }}",
        "{{ with Name }}a: {{ . }}{{ end }}",
        "a: {{ range until Index }}x{{ end }}",
        "a: {{ range $i, $_ := list Name }}{{ $i }}{{ end }}",
        "a: {{ (dict `k` Name).k }}",
        "{{ $d := dict }}{{ set $d `k` Name }}a: {{ $d.k }}",
        "a: {{ randAlpha Index }}",
        "a: {{ quote Name Index }}",
        "{{ Name }}: 1",
        "a: 1 # {{ Name }}",
        "{{ range .list }}- &{{ Name }} a{{ end }}",
        "a: \ue000{{ Name }}",
    ],
)
def test_a_shape_that_depends_on_the_object_is_refused(template: str) -> None:
    with pytest.raises(NotSymbolicError):
        symbolic(template)


def test_a_key_in_quotes_is_not_known() -> None:
    with pytest.raises(NotSymbolicError):
        symbolic("{{ Quote Name }}: 1")


def test_other_errors_name_their_place() -> None:
    with pytest.raises(ExpressionError, match="line 2, column 7: there is no field or method 'x'"):
        symbolic("a: 1\nb: {{ .prefix.x }}{{ Name }}")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{{ index .list Index }}", "for object 9: the index 9 is out of range"),
        ("{{ div 1 (sub Index 9) }}", "for object 9: .*zero"),
        ('{{ printf "a: %d" Index }}', "'a: 9' needs quotes in YAML"),
        ("{{ index .map Name | quote }}", "'quote' writes no quotes for a missing value"),
    ],
)
def test_a_value_that_one_number_cannot_make_is_an_error_for_that_number(
    written: str, message: str
) -> None:
    rendered = symbolic(f"a: {written}")

    with pytest.raises(ExpressionError, match=message):
        filled(rendered, 9)


def test_what_is_made_alike_has_one_function() -> None:
    compiler = Compiler({"Index": int})
    function: Callable[..., Any] = deferring(lambda *_: 1)
    index = Symbol("Index")

    def made(*arguments: Any) -> Callable[[int], Any]:
        return compiler.function(function(*arguments))

    assert made(index, "a") is made(Symbol("Index"), "a")
    assert made(index, 1) is not made(index, True)
    assert made(index, 1) is not made(1, index)
    assert made(index, ["a"])(0) == made(index, ["a"])(0)


def test_what_only_quotes_a_text_is_seen_through() -> None:
    rendered = symbolic("[{{ Name }}, {{ Quote Name }}, {{ quote Name }}, {{ upper Name }}]")

    roots: list[Any] = [stripped(symbol, SAYS_THE_SAME) for symbol in rendered]
    roots = [symbol.function for symbol in roots]
    assert roots[:3] == ["Name", "Name", "Name"]
    assert roots[3] != "Name"


def with_data(template: str, data: Any) -> Any:
    return gotemplate.compile(template).render_symbols(data, FUNCTIONS, ())


def test_symbols_in_the_data_are_passed_through() -> None:
    own = TextSymbol("own")

    found = with_data(
        "{a: {{ Quote .x }}, b: {{ Quote (or .x 1) }}, c: {{ toJson .m }}}", {"x": own, "m": {}}
    )

    assert [stripped(found[key], SAYS_THE_SAME) is own for key in "ab"] == [True, True]
    assert found["c"] == {}


@pytest.mark.parametrize(
    "template",
    [
        "a: {{ if eq .x 1 }}b{{ end }}",
        "a: {{ if .plain }}b{{ end }}",
        'a: {{ Quote (printf "%v" .m) }}',
        "a: {{ Quote (toJson .m) }}",
        'a: {{ Quote (join "," .l) }}',
        "a: {{ Quote (has .x .l) }}",
        "a: {{ Quote (Twice .l) }}",
        "a: {{ uuidv4 }}",
        "a: {{ randInt 1 1000 }}",
        "{{ Quote .x }}: b",
    ],
)
def test_what_would_have_to_know_a_symbol_in_the_data_is_refused(template: str) -> None:
    own, plain = TextSymbol("own"), Symbol("plain")
    data = {"x": own, "plain": plain, "m": {"k": own}, "l": [own, plain]}

    with pytest.raises(NotSymbolicError):
        with_data(template, data)


def test_a_symbol_equals_itself_alone() -> None:
    own = Symbol("own")

    assert [own] == [own]
    for compare in (
        lambda: own == Symbol("own"),
        lambda: own == "own",
        lambda: {own},
        lambda: str(own),
    ):
        with pytest.raises(NotSymbolicError):
            compare()
