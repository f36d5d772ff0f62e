"""Whatever way an object comes about, it is what the rendered text says."""

import itertools
from typing import Any

import pytest

from kwokctl.errors import ConfigError, ExpressionError
from kwokctl.expr import yaml
from kwokctl.expr.gotemplate import emission
from kwokctl.expr.gotemplate.skeletons import Skeletons, build
from kwokctl.expr.gotemplate.template import Template

VALUES: list[Any] = [
    *("x", "1", "yes", "null", "", "a b", "a: b", "a:b", "#c", "- x", "-5", "--", "1e3", "010", "{a}"),
    *("2026-01-01T00:00:00Z", "12:30", "'q'", '"q"', "a\nb", " x", "*a", "&a", "|", "a\ue000b", "\ue004"),
    *("<<", ":x", "x:", "x/y:1@sha", 5, -5, 0, 1.5, 2.0, True, None, [1, "a"], {"a": 1, "b": [1]}, []),
]  # fmt: skip

TEMPLATES = [
    "k: {{.v}}",
    "k: {{.v}}{{.w}}",
    "k: -{{.v}}",
    "- {{.v}}\n- {{.w}}",
    "{{.v}}: {{.w}}",
    "{{.v}}{{.w}}: x",
    "{{.v}}",
    'k: "{{.v}}"',
    "k: '{{.v}} {{.w}}'",
    "k: [{{.v}}, {{.w}}]",
    "k: {a: {{.v}}, {{.w}}: b}",
    "k: |\n  {{.v}}\n  x{{.w}}",
    "k: >\n  {{.v}}\n  {{.w}}",
    "# {{.v}}\nk: {{.w}}",
    "k: {{.v}} # {{.w}}",
    "k: !!str {{.v}}",
    "k: &a {{.v}}\nl: *a",
    "k: {{Quote .v}}",
    "{{Quote .v}}: {{.w | Quote}}",
    "k: a {{Quote .v}}",
    "k: '{{Quote .v}}'",
    "k: {{quote .v}}{{.w}}",
    "k: {{YAML .v}}",
    "k: {{YAML .v 1}}",
    "k:\n- {{YAML .v 1}}",
    "k:\n  {{YAML .v 1}}\n  b: 1",
    "a:\n  b: {{YAML .v 1}}\n  c: {{YAML .w 2}}",
    "{{YAML .v}}",
    "{{if .l}} {{YAML .v}}{{end}}",
    "k: {{toJson .v}}",
    "k: '{{toJson .v}}'",
    "{{if .v}}a: {{.w}}{{else}}b: {{Quote .w}}{{end}}",
    "{{range $i, $e := .l}}- {{$e}}\n{{end}}",
    "k: {{.v}}: {{.w}}",
    "k: {{.v}}\n---\nl: {{.w}}",
    "<<: {{.v}}",
    "? {{.v}}\n: {{.w}}",
    'k: "\\{{.v}}"',
    "k: |{{.v}}\n  x",
    "k: *{{.v}}",
    "k: \ue000{{.v}}",
    "",
    "a: {{.v}}\na: {{.w}}",
    "{{.v}}: 1\n{{.w}}: 2",
    "{{Quote .v}}: 1\na: 2",
]


def _parsed(template: Template, data: Any) -> Any:
    try:
        return yaml.load(template.render(data, {}))
    except (ConfigError, ExpressionError):
        return ExpressionError


def _built(template: Template, data: Any) -> Any:
    try:
        return template.render_object(data, {})
    except ExpressionError:
        return ExpressionError


def _same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("text", TEMPLATES)
def test_an_object_equals_the_parsed_text_however_often_it_is_made(text: str) -> None:
    template = Template(text)
    for v, w in zip(VALUES, itertools.islice(itertools.cycle(VALUES), 7, None), strict=False):
        data = {"v": v, "w": w, "l": [v, w]}
        expected = _parsed(template, data)
        for _ in range(3):
            built = _built(template, data)
            assert _same(built, expected), f"{data}: {built!r} is not {expected!r}"


@pytest.mark.parametrize("text", ["a: 1\nb: {a: 1}\na: {{.}}", "a: 1\nb: 2\n{{.}}: 3"])
def test_a_repeated_key_is_reported_with_its_place_however_often(text: str) -> None:
    template = Template(text)
    for _ in range(3):
        with pytest.raises(ExpressionError, match="the key 'a' is repeated at line 3, column 1"):
            template.render_object("a", {})


@pytest.mark.parametrize(
    "text",
    [
        "k: {{Quote .}}",
        "{{Quote .}}: {{.}}",
        "{{.}}: x",
        "name: node-{{.}}",
        'k: "a {{.}}"',
        "- {{.}}\n- [{{.}}, {a: {{Quote .}}}]",
        "k: {{YAML . 1}}",
        "k: {{toJson .}}",
        "k: {{quote .}}",
        "k: |\n  {{.}}",
    ],
)
def test_a_text_is_parsed_once_for_all_values(text: str) -> None:
    skeletons = _skeletons(Template(text), "one", "two", "three")

    assert len(set(skeletons)) == 1
    assert build(skeletons[0]) is not None


@pytest.mark.parametrize(
    "text", ["k: {{.}} # {{.}}", "k: &a {{.}}", "k: !!str {{.}}", "k: a {{Quote .}}"]
)
def test_what_cannot_be_built_is_left_to_the_parser(text: str) -> None:
    [skeleton] = _skeletons(Template(text), "one")

    assert build(skeleton) is None


def _skeletons(template: Template, *values: str) -> list[str]:
    """Return what the template writes with placeholders."""
    seen = []
    for value in values:
        written: list[str] = []
        template._fill(written.extend, value, {}, [])
        seen.append("".join(written))
    return seen


def test_an_object_shares_nothing_with_the_data_or_with_another() -> None:
    data = {"list": [{"a": 1}]}
    template = Template("k: {{YAML .list 1}}\nj: {{toJson .list}}\nfixed: {a: [1]}")
    objects = [template.render_object(data, {}) for _ in range(4)]

    for one in objects:
        one["k"][0]["a"] = one["j"][0]["a"] = 2
        one["fixed"]["a"].append(2)

    assert data == {"list": [{"a": 1}]}
    assert template.render_object(data, {}) == {
        "k": [{"a": 1}],
        "j": [{"a": 1}],
        "fixed": {"a": [1]},
    }


def test_a_few_skeletons_are_kept_and_the_least_used_are_forgotten() -> None:
    skeletons = Skeletons()
    assert skeletons.builder("a: 1") is None, "worth nothing at first sight"
    first = skeletons.builder("a: 1")
    assert first is not None

    for number in range(500):
        skeletons.builder(f"b: {number}")
        assert skeletons.builder("a: 1") is first
    assert len(skeletons._known) <= 128
    assert skeletons.builder("b: 1") is None, "forgotten"


def test_an_error_of_yaml_names_the_template() -> None:
    template = Template("a: {{.}}\n b: 1", "mine")
    for _ in range(3):
        with pytest.raises(
            ExpressionError, match=r"the output of template 'mine' is not YAML: .*line 2"
        ):
            template.render_object("x", {})


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_number_that_json_has_not_is_an_error_each_time(value: float) -> None:
    template = Template("a: {{YAML . 1}}")
    assert template.render_object([1], {}) == template.render_object([1], {}) == {"a": [1]}

    for _ in range(3):
        with pytest.raises(ExpressionError, match="is not YAML"):
            template.render_object([value], {})


def test_the_marks_are_recognized_in_text() -> None:
    assert emission.is_marked("a\ue002b")
    assert not emission.is_marked("abc")
