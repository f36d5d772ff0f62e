import json
import re
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import pytest

from kwokctl.errors import ConfigError
from kwokctl.expr import yaml

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "yaml.json").read_text("utf-8"))
CASES = {case["text"]: case for case in GOLDEN["cases"]}

DECIDED = {
    # What Kubernetes' reader turns into a float that is near, stays exact here.
    "a: 18446744073709551616": {"a": 18446744073709551616},
    "a: -9223372036854775809": {"a": -9223372036854775808},
    "100000000000000000000: a": {"100000000000000000000": "a"},
    "18446744073709551615: a": {"18446744073709551615": "a"},
    "18446744073709551616: a": {"18446744073709551616": "a"},
    "-9223372036854775809: a": {"-9223372036854775808": "a"},
    "1e20: a": {"100000000000000000000": "a"},
    "123456789.0: a": {"123456789": "a"},
    "-0.0: a": {"0": "a"},
    # An unknown tag, or a key that is no number of JSON, is more likely a mistake.
    "a: !foo 1": ConfigError,
    # Kubernetes' reader takes the last of two; one of them would be lost.
    "a: 1\na: 2": ConfigError,
    ".inf: a": ConfigError,
    ".nan: a": ConfigError,
}
TEXTS = [
    *(text[3:] for text in CASES if text.startswith("a: ")),
    *(
        "a\nb\n",
        "a\nb",
        " x",
        "x ",
        " a\n b",
        "\n",
        "a\n",
        "- a",
        "a: b",
        "#c",
        "\t",
        "é",
        "\ue000",
    ),
    *("😀", "a\n\n", "'", '"', "%x", "@x", "`", "a #b", "{}", "[", "\x07", "0x1g", "\x85", "---"),
    *("...", "a: !!str 1", "\ufeff", "a\r\nb"),
]


@pytest.mark.parametrize("text", CASES)
def test_a_text_means_what_it_means_to_the_kubernetes_tools(text: str) -> None:
    case = CASES[text]
    expected: Any = DECIDED.get(text, ConfigError if "fails" in case else case.get("result"))

    if expected is ConfigError:
        with pytest.raises(ConfigError):
            yaml.load(text)
    else:
        assert yaml.load(text) == expected


def test_integers_stay_integers() -> None:
    loaded = yaml.load("[1, 1.0, 1e3, 1.5]")

    assert [type(value) for value in loaded] == [int, int, int, float]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_that_is_written_is_read_back_as_the_same_text(text: str) -> None:
    for value in (text, {text: 1}, [text], {"a": {"b": [text]}}):
        assert yaml.load(yaml.dump(value)) == value


@pytest.mark.parametrize("text", ["yes", "on", "1e3", "012", "12:30", "2026-01-01", "null", "0o7"])
def test_a_text_that_any_reader_could_mistake_is_quoted(text: str) -> None:
    assert yaml.dump({"a": text}) == f"a: '{text}'\n"


def test_values_are_written_in_their_order_each_on_its_line() -> None:
    class Word(StrEnum):
        ONE = "one"

    value = {
        "z": MappingProxyType({"list": (1, 2.5, None, True)}),
        "a": "first\nsecond\n",
        "word": Word.ONE,
        "none": {},
        "range": range(2),
        "same": [shared := ["x"], shared],
    }

    assert yaml.dump(value) == (
        "z:\n  list:\n  - 1\n  - 2.5\n  - null\n  - true\n"
        "a: |\n  first\n  second\n"
        "word: one\n"
        "none: {}\n"
        "range:\n- 0\n- 1\n"
        "same:\n- - x\n- - x\n"
    )
    with pytest.raises(TypeError, match="a PosixPath cannot be written"):
        yaml.dump({"a": Path("x")})


def test_keys_can_be_sorted() -> None:
    assert yaml.dump({"b": 1, "a": 2}, sort_keys=True) == "a: 2\nb: 1\n"


def test_documents_come_back_one_by_one() -> None:
    values: list[Any] = [{"a": 1}, None, [], "text", 1.5, {"b": {"c": []}}]

    assert yaml.load_all(yaml.dump_all(values)) == values
    assert yaml.load_all("") == []
    assert yaml.load_all("---\n---\na: 1\n") == [None, {"a": 1}]
    assert yaml.load("") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [1", "line 2, column 1"),
        ("a: 1\n b: 2\n", "line 2, column 3"),
        ("a: \x01", "unacceptable character|control characters"),
        ("a: 1\n---\nb: 2\n", "more than one YAML document"),
        ("a: *b", "unknown anchor 'b' at line 1, column 4"),
        ("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", "the key 'c' is repeated at line 5, column 3"),
        ("{1: a, '1': b}", "the key '1' is repeated at line 1, column 8"),
        ("~: 1", "a mapping key must be a string, not 'None' at line 1, column 1"),
        ("<<: 1", "only mappings can be merged"),
        ("a: .inf", "'.inf' is not a number that JSON can hold at line 1, column 4"),
        ("a: !!int x", "'x' is no int"),
        ("[" * 2000, "nested too deeply|line"),
    ],
)
def test_a_syntax_error_is_reported_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        yaml.load(text)


def test_anchors_and_merges_are_resolved() -> None:
    text = "x: &x {a: 1, b: 2}\nm: {<<: *x, b: 3}\nz: &z [*x, &s text, *s]\n"

    assert yaml.load(text) == {
        "x": {"a": 1, "b": 2},
        "m": {"b": 3, "a": 1},
        "z": [{"a": 1, "b": 2}, "text", "text"],
    }


def _doubled(levels: int, first: str) -> str:
    """Return a text in which each line stands for ten times what the one before stands for."""
    lines = [f"a0: &a0 {first}"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


def _chained(levels: int) -> str:
    lines = ["a0: &a0 []", *(f"a{n}: &a{n} [*a{n - 1}]" for n in range(1, levels))]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (_doubled(10, "[lol]"), "the aliases up to '*a5' stand for more than 32 MiB at line 7,"),
        (
            _doubled(4, "x" * 100_000),
            "the aliases up to '*a2' stand for more than 32 MiB at line 4,",
        ),
        (
            "m: &m {a: d, b: *m}",
            "the alias '*m' is within the value that it stands for at line 1, column 17",
        ),
        ("&m [[*m]]", "the alias '*m' is within the value that it stands for at line 1, column 6"),
        (
            "&m {<<: *m}",
            "the alias '*m' is within the value that it stands for at line 1, column 9",
        ),
        ("[" * 201 + "]" * 201, "more than 200 levels are within each other at line 1, column 201"),
        ('{"a":' * 100_000, "more than 200 levels are within each other at line 1, column 1001"),
        ("- " * 100_000, "more than 200 levels are within each other at line 1, column 401"),
        (_chained(300), "more than 200 levels are within each other at line 200, column"),
    ],
)
def test_what_could_not_be_written_out_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(problem)) as caught:
        yaml.load(text)

    assert caught.value.hint


def test_as_many_levels_and_aliases_as_people_write_are_read() -> None:
    deep: Any = yaml.load("[" * 200 + "]" * 200)
    pods: Any = yaml.load(
        "- &pod {spec: {containers: [{name: a, image: b}], nodeName: n}}\n" + "- *pod\n" * 5000
    )
    again: Any = yaml.load("- &a [&a x, *a]\n- *a\n")

    assert orjson.dumps(deep).startswith(b"[[[")
    assert len(orjson.loads(orjson.dumps(pods))) == 5001
    assert again == [["x", "x"], ["x", "x"]]
