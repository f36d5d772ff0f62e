"""tests/unit/expr/cel/test_against_kwok.py compares hundreds of expressions with those of Go."""

import pytest

from kwokctl.expr.regexp import RegexpError, compile_regexp


@pytest.mark.parametrize(
    ("text", "at", "problem"),
    [
        (r"(a)\1", 3, "back references are not supported"),
        ("a(?=b)", 1, "'(?=' is not supported"),
        ("a(?<!b)", 1, "'(?<' is not supported"),
        ("a++", 2, "'+' follows another repetition"),
        ("a{1001}", 1, "'{1001}' is not a valid number of repetitions"),
        ("[a", 0, "the bracket is not closed"),
        (
            r"\p{Greek}",
            0,
            "'Greek' is not a general category of Unicode; scripts are not supported",
        ),
        ("(" * 2000 + ")" * 2000, 0, "it cannot be used"),
    ],
)
def test_what_go_does_not_have_is_refused_with_its_place(text: str, at: int, problem: str) -> None:
    with pytest.raises(RegexpError) as caught:
        compile_regexp(text)

    assert caught.value.at == at
    assert caught.value.problem.startswith(problem)


def test_groups_keep_their_names_and_numbers() -> None:
    match = compile_regexp(r"(?<key>\w+)=(?:(?i)(X+)|(?P<value>.))").search("a=xX")

    assert match is not None
    assert (match["key"], match[2], match["value"]) == ("a", "xX", None)
