"""What would take for ever, or all memory, fails after so many steps; what people write does not."""

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import gotemplate, jq
from kwokctl.expr.budget import STEPS, BudgetError, charged, looped, metered, spend
from kwokctl.expr.cel import analysis, compile_cel

TOO_MUCH = f"it takes more than {STEPS:,} steps"
_DEFINED = '{{ define "a0" }}x{{ end }}' + "".join(
    f'{{{{ define "a{n}" }}}}{{{{ template "a{n - 1}" }}}}{{{{ template "a{n - 1}" }}}}{{{{ end }}}}'
    for n in range(1, 40)
)


def _often(text: str, times: int = 60) -> str:
    return text * times


TEMPLATES = [
    "{{ range until 1000000 }}{{ range until 1000000 }}x{{ end }}{{ end }}",
    "{{ range 1000000 }}{{ range 1000000 }}{{ end }}{{ end }}",
    '{{ range $k, $v := until 1000000 }}{{ upper (repeat 1000 "a") }}{{ end }}',
    f'{_DEFINED}{{{{ template "a39" }}}}',
    'a: {{ $s := "aaaaaaaaaa" }}' + _often('{{ $s = printf "%s%s" $s $s }}'),
    "a: {{ $s := list 1 }}" + _often("{{ $s = list $s $s }}") + "{{ toJson $s }}",
    "a: {{ $s := dict }}" + _often('{{ $s = dict "a" $s "b" $s }}') + "{{ YAML $s 1 }}",
    'a: {{ $s := `"` }}' + _often("{{ $s = toJson $s }}"),
    'a: {{ indent 1000000 (regexReplaceAll "a" (repeat 1000 "a") "\\n") | len }}',
    'a: {{ replace "" (repeat 100000 "x") (repeat 100000 "y") | len }}',
    'a: {{ join (repeat 100000 "x") (until 100000) | len }}',
    'a: {{ wrapWith 1 "" (repeat 1000000 "x") | len }}',
    'a: {{ trimAll (repeat 1000000 "b") (repeat 1000000 "a") }}',
    'a: {{ regexReplaceAll "a" (repeat 100000 "a") (repeat 100000 "b") | len }}',
    "a: {{ uniq (until 100000) | len }}",
    '{{ $x := repeat 500000 "a" }}{{ range until 1000 }}{{ $x }}{{ end }}',
    '{{ $x := repeat 500000 "a" }}{{ range until 1000 }}{{ Quote $x }}{{ end }}',
    '{{ $x := dict }}{{ $y := set $x "a" $x }}{{ toJson $x }}',
    'a: {{ fromYaml (repeat 900000 " ") }}',
]
PROGRAMS = [
    "[range(1e12)]",
    "range(1e12) | select(. < 0)",
    'reduce range(100) as $i ("aaaa"; . + .)',
    "reduce range(100) as $i (10; . * .)",
    "reduce range(60) as $i ([]; [., .])",
    "reduce range(60) as $i ([]; [., .]) | tojson",
    "reduce range(60) as $i ([]; [., .]) | flatten",
    "reduce range(60) as $i ([]; [., .]) | . == .",
    "|".join(["(1, 1)"] * 40) + " | empty",
    "def f(n): if n < 0 then 0 else f(n - 1) + f(n - 1) end; f(40)",
    '"x" * 99999999',
    "null | .[9999999] = 1",
    "[range(100)] | [.[] as $a | .[] as $b | .[] as $c | .[] as $d | 1]",
    "[range(3000)] - [range(3000)]",
    "[range(20000) | tostring] | add",
    "[range(20000)] | .[] |= . + 1",
    "{a: range(1000), b: range(1000), c: range(1000)} | empty",
    '"\\(range(1000))\\(range(1000))" | empty',
    "[range(10)] | combinations(12) | empty",
    "try error([range(1e6)]) catch 1",
    ".a | select(.[] != 1) | select(.[] != 1) | select(.[] != 1)",
    '[range(90000)] | tojson | test("(a|b)*c{100}")',
]
_TEN = "[0,1,2,3,4,5,6,7,8,9]"
EXPRESSIONS = [
    "self.a.all(a, self.a.all(b, self.a.all(c, self.a.all(d, a + b + c + d > 0))))",
    "self.a.exists(a, self.a.exists(b, self.a.exists(c, self.a.exists(d, a < b - c - d - 99))))",
    "".join(f"{_TEN}.all(v{n}, " for n in range(9)) + "true" + ")" * 9,
    "['aaaaaaaa']" + _often(".map(x, x + x)") + ".size() > 0",
    "[['a']]" + _often(".map(x, x + x)") + ".size() > 0",
    "self.text.matches('x') || self.a.map(a, self.text).all(t, !self.text.contains(t + 'b'))",
    "self.a.all(a, !(a in self.b))",
]
OBJECT: dict[str, Any] = {"a": [5] * 500, "b": [1] * 5000, "text": "a" * 500_000}


def _fails(run: Callable[[], object], where: str) -> None:
    with pytest.raises(BudgetError, match=re.escape(TOO_MUCH)) as caught:
        run()
    assert where in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("text", TEMPLATES)
def test_a_template_that_takes_too_much_fails_with_its_place(text: str) -> None:
    template = gotemplate.compile(text, name="bomb")

    _fails(lambda: template.render_object({}, {}), "template 'bomb', line ")
    _fails(lambda: template.render({}, {}), "template 'bomb', line ")


def test_what_a_template_writes_is_bounded_before_it_is_read() -> None:
    template = gotemplate.compile("{{ range until 30000 }}a{{ . }}: {{ . }}\n{{ end }}", name="b")

    for _ in range(2):  # whether it was seen before does not matter
        _fails(lambda: template.render_object({}, {}), "the output of template 'b'")


@pytest.mark.parametrize("text", PROGRAMS)
def test_a_jq_program_that_takes_too_much_fails_by_name(text: str) -> None:
    query = jq.compile(text)

    _fails(lambda: query.run(OBJECT), f"jq '{text}'")
    _fails(lambda: query.values(OBJECT), f"jq '{text}'")


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_cel_expression_that_takes_too_much_fails_by_name(text: str) -> None:
    program = compile_cel(text)

    assert analysis.fixed_truth(program) is None
    _fails(lambda: program.evaluate(OBJECT), f"CEL '{text}'")


def test_as_much_as_people_write_is_done() -> None:
    images = [{"names": [f"image-{n}", f"image-{n}@sha256:{n:064}"]} for n in range(200)]
    listed = "a: [{{ range .images }}{{ range .names }}{{ Quote . }}, {{ end }}{{ end }}]"
    numbered = "a: [{{ range until 5000 }}{{ . }}, {{ end }}]"
    data: dict[str, Any] = {"images": images}

    assert len(_rendered(listed, data)["a"]) == 400
    assert len(_rendered(numbered, data)["a"]) == 5000
    assert jq.compile("[range(10000)] | map(. + 1) | sort | length").run(None) == [10000]
    assert compile_cel("self.images.all(i, i.names.exists(n, n.contains('@')))").evaluate(data)
    assert compile_cel("self.images.all(i, self.images.exists(j, i.names == j.names))").evaluate(
        {"images": images[:50]}
    )


def _rendered(text: str, data: dict[str, Any]) -> Any:
    return gotemplate.compile(text).render_object(data, {})


def test_each_evaluation_has_all_steps() -> None:
    template = gotemplate.compile("a: {{ range until 5000 }}{{ . }}{{ end }}")
    most = f"[range({STEPS // 3})] | length"

    for _ in range(3):
        assert template.render_object({}, {})
        assert jq.compile(most).run(None) == [STEPS // 3]
        spend(STEPS)


def test_steps_within_another_evaluation_count_for_that() -> None:
    def halves() -> None:
        for _ in range(3):
            metered(spend, STEPS // 2)

    with pytest.raises(BudgetError):
        metered(halves)
    metered(spend, STEPS)


def test_another_thread_has_steps_of_its_own() -> None:
    def beside() -> None:
        other = threading.Thread(target=lambda: done.append(metered(spend, STEPS)))
        other.start()
        other.join()
        spend(STEPS)

    done: list[None] = []
    metered(beside)

    assert done == [None]


def test_a_value_counts_with_all_that_is_in_it() -> None:
    shared: list[object] = ["x" * 64]
    for _ in range(60):
        shared = [shared, shared]

    with pytest.raises(BudgetError):
        charged(len)(shared)
    assert charged(len)([[1] * 1000]) == 1
    assert looped([1, 2], 3) == [1, 2]


def test_errors_of_expressions_stay_what_they_were() -> None:
    with pytest.raises(ExpressionError, match="templates call each other without end"):
        gotemplate.compile('{{ define "a" }}{{ template "a" }}{{ end }}{{ template "a" }}').render(
            {}, {}
        )
    with pytest.raises(ExpressionError, match="'printf' cannot write 999999999 characters"):
        gotemplate.compile('{{ printf "%999999999d" 1 }}').render({}, {})
