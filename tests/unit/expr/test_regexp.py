"""tests/unit/expr/cel/test_against_kwok.py compares hundreds of expressions with those of Go."""

import pytest

from kwokctl.expr.regexp import Regexp, RegexpError, compile_regexp


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (r"(a)\1", r"invalid escape sequence in '\1'"),
        ("a(?=b)", "invalid perl operator in '(?='"),
        ("a++", "bad repetition operator in '++'"),
        ("a{1001}", "invalid repetition size in '{1001}'"),
        ("(a{500}){3}", "invalid repetition size in '{3}'"),
        ("[a", "missing ] in '[a'"),
        ("(" * 3, "missing ) in '((('"),
        (r"a\C", r"invalid escape sequence in '\C'"),
        (r"((\pL{1000}){1}){1}\pN{1000}", "pattern too large - compile failed"),
    ],
)
def test_what_go_does_not_have_is_refused(
    text: str, problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(RegexpError) as caught:
        compile_regexp(text)

    assert str(caught.value) == problem
    assert capfd.readouterr().err == ""


def test_a_sign_that_is_quoted_is_no_escape_sequence() -> None:
    assert compile_regexp(r"^\Q\C\E\\C$").is_in(r"\C\C")


def test_groups_keep_their_names_and_numbers() -> None:
    match = compile_regexp(r"(?<key>\w+)=(?:(?i)(X+)|(?P<value>.))").search("a=xX")

    assert match is not None
    assert (match.group("key"), match.group(2), match.group("value")) == ("a", "xX", None)
    assert (match.start(2), match.end(2), match.start(3)) == (2, 4, -1)


@pytest.mark.parametrize(
    ("text", "whole", "spans"),
    [
        ("a*", "baaac", [(0, 0), (1, 4), (5, 5)]),
        ("", "äb", [(0, 0), (1, 1), (2, 2)]),
        (r"\b", "ä b", [(2, 2), (3, 3)]),
        ("^a", "aa", [(0, 1)]),
        (r"\p{Greek}+|b", "aλμb", [(1, 3), (3, 4)]),
        (".", "a\ud800", [(0, 1), (1, 2)]),
    ],
)
def test_places_are_those_of_characters(
    text: str, whole: str, spans: list[tuple[int, int]]
) -> None:
    found = compile_regexp(text).all(whole)

    assert [(match.start(), match.end()) for match in found] == spans


def test_what_is_too_long_to_be_simplified_is_refused() -> None:
    with pytest.raises(RegexpError, match=r"it has 200,000 bytes, more than 65,536"):
        Regexp(".*" * 100_000)


def test_what_takes_python_for_ever_ends_at_once() -> None:
    assert not compile_regexp("(a+)+$").is_in("a" * 60 + "!")
