"""What the golden file cannot hold: chance, the time, and what we do otherwise."""

from copy import deepcopy
from typing import Any

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr import gotemplate
from kwokctl.expr.gotemplate.functions import BUILT_IN
from kwokctl.expr.gotemplate.functions.refused import REFUSED

SERVED = (
    "abbrev add add1 addf adler32sum ago all any append atoi b32dec b32enc b64dec b64enc base "
    "biggest camelcase cat ceil chunk clean coalesce compact concat contains date dateInZone "
    "dateModify date_in_zone date_modify deepCopy deepEqual default dict dig dir div divf "
    "duration durationRound empty ext fail first float64 floor fromJson get has hasKey "
    "hasPrefix hasSuffix htmlDate htmlDateInZone indent initial initials int int64 isAbs join "
    "kebabcase keys kindIs kindOf last list lower max maxf merge mergeOverwrite min minf mod "
    "mul mulf mustAppend mustFromJson mustToJson mustUniq nindent nospace now omit pick pluck "
    "plural prepend push quote randAlpha randAlphaNum randAscii randBytes randInt randNumeric regexFind "
    "regexFindAll regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit "
    "repeat replace rest reverse round semver semverCompare seq set sha1sum sha256sum sha512sum shuffle slice "
    "snakecase sortAlpha split splitList splitn squote sub subf substr swapcase ternary title "
    "toDate toDecimal toJson toPrettyJson toRawJson toString toStrings trim trimAll "
    "trimPrefix trimSuffix trunc tuple typeIs typeIsLike typeOf uniq unixEpoch unset until "
    "untilStep untitle upper urlJoin urlParse uuidv4 values without wrap wrapWith"
)


def _render(text: str, data: Any = None, now: str = "2026-01-02T03:04:05.5Z") -> str:
    return gotemplate.compile(text).render(data, {"Now": lambda: now})


def test_the_functions_of_sprig_are_there() -> None:
    unknown = {"now", "ago"}
    assert [name for name in SERVED.split() if name not in BUILT_IN and name not in unknown] == []


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("env", '"HOME"', "it reads the environment of the controller"),
        ("getHostByName", '"x"', "it asks the network"),
        ("genPrivateKey", '"rsa"', "it makes keys or certificates"),
        ("htpasswd", '"a" "b"', "it works with passwords"),
    ],
)
def test_a_function_of_sprig_that_is_not_served_is_refused_with_the_reason(
    name: str, arguments: str, reason: str
) -> None:
    said = rf"line 2, column 4: Sprig's '{name}' is not supported: {reason}"
    with pytest.raises(ExpressionError, match=said):
        gotemplate.compile(f"a\n{{{{ {name} {arguments} }}}}")


def test_a_function_of_sprig_is_either_served_or_refused() -> None:
    assert REFUSED.keys() & BUILT_IN.keys() == set()


def test_the_time_comes_from_the_caller() -> None:
    assert _render("{{ now }}") == "2026-01-02 03:04:05.5 +0000 UTC"
    assert _render('{{ now | date "2006-01-02T15:04:05.000Z07:00" }}') == "2026-01-02T03:04:05.500Z"
    assert _render('{{ now | dateModify "-1h" | date "15:04" }}') == "02:04"
    assert _render('{{ ago (toDate "2006-01-02 15:04:05" "2026-01-02 01:02:03") }}') == "2h2m3s"
    assert _render("{{ now | unixEpoch }} {{ htmlDate now }}") == "1767323045 2026-01-02"


def test_what_is_no_time_is_refused_where_sprig_takes_the_time_now() -> None:
    text = '{{ date "2006-01-02" . }}'

    assert _render('{{ date "2006-01-02" 0 }}') == "1970-01-01"
    values: list[Any] = ["1970-01-01T00:00:00Z", 0, []]
    for value in values:
        with pytest.raises(ExpressionError, match="is not a time"):
            _render(text, value)
    with pytest.raises(ExpressionError, match="outside the years"):
        _render('{{ date "2006-01-02" 1000000000000000000 }}')


def test_chance_gives_something_else_each_time() -> None:
    for text in (
        "{{ uuidv4 }}",
        "{{ randAlphaNum 20 }}",
        "{{ randBytes 20 }}",
        '{{ shuffle "abcdefghijklmnopqrst" }}',
    ):
        assert _render(text) != _render(text)


def test_a_map_that_the_template_has_made_can_be_changed() -> None:
    text = '{{ $m := dict "a" 1 }}{{ $_ := set $m "b" .x }}{{ $_ := unset $m "a" }}{{ $m }}'

    assert _render(text, {"x": 2}) == "map[b:2]"
    assert _render('{{ $m := deepCopy . }}{{ set $m "b" 2 }}', {"a": 1}) == "map[a:1 b:2]"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{{ $_ := set .m "a" .n }}{{ .m }} {{ typeOf .m.a }}', "map[a:2 b:map[c:1]] json.Number"),
        ('{{ $_ := unset .m.b "c" }}{{ .m }}', "map[a:1 b:map[]]"),
        ('{{ $_ := merge .m (dict "x" 1) }}{{ .m.x }}{{ if eq .m.x 1 }}!{{ end }}', "1!"),
        ('{{ $_ := set (index Given 0) "a" "b" }}{{ index Given 0 }}', "map[]"),
    ],
)
def test_a_template_may_change_its_copy_of_the_object(text: str, written: str) -> None:
    data = {"m": {"a": 1, "b": {"c": 1}}, "n": 2}
    before = deepcopy(data)
    given: list[dict[str, str]] = [{}]

    assert gotemplate.compile(text).render(data, {"Given": lambda: given}) == written
    assert data == before
    assert given == [{}]


def test_merging_leaves_the_data_alone() -> None:
    data = {"m": {"x": {"a": 1}}}

    assert _render('{{ merge .m (dict "x" (dict "b" 2)) }}', data) == "map[x:map[a:1 b:2]]"
    assert _render('{{ merge (dict) .m (dict "x" (dict "b" 2)) }}', data) == "map[x:map[a:1 b:2]]"
    assert data == {"m": {"x": {"a": 1}}}


def test_yaml_is_written_and_read() -> None:
    data = {"b": [1], "a": "yes"}

    assert _render("{{ toYaml . }}|{{ YAML . 1 }}", data) == (
        "a: 'yes'\nb:\n- 1|\n  a: 'yes'\n  b:\n  - 1\n  "
    )
    assert _render("{{ (fromYaml .).a }}", "a: 1") == "1"
    assert _render("{{ YAML 1 -1 }}") == "1\n"
    for wrong in ("{{ fromYaml . }}", '{{ YAML 1 "x" }}', "{{ YAML 1 1.5 }}"):
        with pytest.raises(ExpressionError):
            _render(wrong, "a: [")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{{ hasKey 1 "a" }}', "the number 1 is not a map"),
        ("{{ randAlpha -1 }}", "cannot have -1 characters"),
        ("{{ randInt 5 5 }}", "a lower and a higher bound"),
        ("{{ chunk 0 (list 1) }}", "a size of one or more"),
        ("{{ durationRound now }}", "subtract first"),
        ('{{ urlParse "a%zz" }}', "not a URL"),
        ("{{ call 1 }}", "is not a function"),
        ('{{ slice "abc" 0 1 }}', "use 'substr' for a string"),
        ("{{ slice . 2 9 }}", "no part from 2 to 9"),
        ('{{ b32dec "1" }}', "is not base32: .*padding"),
        ('{{ b64dec "/w==" }}', "is not base64"),
        ("{{ ($x := 1) }}", "cannot be set in parentheses"),
    ],
)
def test_a_function_reports_wrong_arguments(text: str, problem: str) -> None:
    with pytest.raises(ExpressionError, match=problem):
        _render(text, [1, 2, 3])


def test_what_is_no_json_is_written_in_some_way() -> None:
    data = {"inf": float("-inf"), "nan": float("nan"), "bytes": {1}, "call": lambda x: x * 2}

    assert _render("{{ .inf }} {{ .nan }} {{ .bytes }}", data) == "-Inf NaN {1}"
    assert _render('{{ printf "%v|%T" .bytes .bytes }}', data) == "{1}|set"
    assert _render("{{ call .call 4 }}", data) == "8"
    assert _render("{{ range .items }}{{ . }}{{ end }}", {"items": iter("ab")}) == "ab"
    with pytest.raises(ExpressionError, match="TypeError: a function cannot be written as YAML"):
        _render("{{ YAML .call }}", data)
