"""The patterns of faults of the API."""

import pytest

from kwokctl.api_proxy.word_pattern import word_patterns


@pytest.mark.parametrize(
    ("pattern", "fitting", "others"),
    [
        ("kubectl", ["kubectl"], ["kubectl/1", "a kubectl", ""]),
        ("kubectl/*", ["kubectl/", "kubectl/v1 (x)", "kubectl/a\nb"], ["kubectl", "akubectl/1"]),
        ("*ctl", ["kubectl", "ctl"], ["kubectl/1"]),
        ("a*b*c", ["abc", "a1b2c", "abbc", "abcbc"], ["ac", "acb", "bac", "abcd"]),
        ("*b*", ["b", "abc"], ["", "ac"]),
        ("a**c", ["ac", "abc"], ["a"]),
        ("ab*ba", ["abba", "ab-ba"], ["aba"]),
        ("*", ["", "x"], []),
        ("a.c", ["a.c"], ["abc"]),
    ],
)
def test_a_star_stands_for_anything(pattern: str, fitting: list[str], others: list[str]) -> None:
    [word] = word_patterns(pattern)

    assert [each for each in (*fitting, *others) if word.fits(each)] == fitting


def test_one_of_several_words_is_enough_and_empty_ones_are_none() -> None:
    words = word_patterns("get, list ,,", separator=",")

    assert [any(word.fits(each) for word in words) for each in ("get", "list", "", "get, list")] == [
        True, True, False, False,
    ]  # fmt: skip
    assert word_patterns(" , ", separator=",") == []


def test_what_takes_a_regular_expression_of_python_for_ever_ends_at_once() -> None:
    [word] = word_patterns("*a" * 1000 + "b")

    assert not word.fits("a" * 16_000)
