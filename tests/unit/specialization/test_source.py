"""What is computed for other objects is checked: it must be of the kind that the plan was made with."""

from collections.abc import Callable
from typing import Any

import pytest

from kwokctl.expr.gotemplate.symbols import NotSymbolicError, Symbol
from kwokctl.specialization.holes import Hole, HoleContent
from kwokctl.specialization.source import Compute, FunctionNames, Functions, MisfitError, Source

TEXT = Hole(0)
NAMES = FunctionNames(
    pure={"Version"}, of_the_moment={"PodIPWith", "PodIPsWith", "Now"}, times={"Now"}
)


def computing(name: str, result: object) -> tuple[HoleContent, Compute]:
    """Trace a call of a function of templates that returns this for the first object."""
    source = Source([TEXT], ("pod",), returning(name, result), NAMES)
    hole = source.hole(source.functions([name])[name]("node"))
    return hole.content, source.compute([hole])


def returning(name: str, result: object) -> Functions:
    return {name: lambda *_: result}


@pytest.mark.parametrize(
    ("first", "content", "alike", "others"),
    [
        ("10.0.0.1", HoleContent.ADDRESS, "10.0.0.2", ["fd00::2", "", "10.0.0.256", 7, None]),
        ("fd00::1", HoleContent.ADDRESS_6, "fd00::2", ["10.0.0.2", "", "fd00::x", ["fd00::2"]]),
    ],
)
def test_one_address_is_of_the_same_family(
    first: str, content: HoleContent, alike: str, others: list[Any]
) -> None:
    found, compute = computing("PodIPWith", first)

    assert found is content
    assert compute(("pod",), returning("PodIPWith", alike))[0] == (alike,)
    for other in others:
        with pytest.raises(MisfitError):
            compute(("pod",), returning("PodIPWith", other))


def test_a_time_is_taken_as_it_is() -> None:
    content, compute = computing("Now", "2026-01-01T00:00:00Z")

    assert content is HoleContent.TIME
    assert compute(("pod",), returning("Now", '"'))[0] == ('"',)


@pytest.mark.parametrize("result", [7, {"ip": "10.0.0.1"}, None])
def test_a_result_that_is_neither_a_text_nor_a_list_is_not_certain(result: object) -> None:
    with pytest.raises(NotSymbolicError):
        computing("PodIPWith", result)


def test_a_function_of_which_nothing_is_known_is_not_called() -> None:
    given: dict[str, Callable[..., Any]] = {"Version": lambda: "1", "Chance": lambda: "2"}
    source = Source([TEXT], ("pod",), given, NAMES)

    assert source.functions(["Version"]) == {"Version": given["Version"]}
    with pytest.raises(NotSymbolicError):
        source.functions(["Chance"])


@pytest.mark.parametrize("other", ["", 'a"', '"a', "a\\", "a\n", "ü", "\x7f", 7, None, ["a"]])
def test_a_text_that_json_does_not_write_as_it_is_is_no_text_of_the_shape(other: Any) -> None:
    answers = {"first": "a b", "alike": "c!", "other": other}
    source = Source([TEXT], ("first",), {}, NAMES)
    hole = source.hole(Symbol(answers.__getitem__, TEXT))
    compute = source.compute([hole])

    assert compute(("alike",), {})[0] == ("c!",)
    with pytest.raises(MisfitError):
        compute(("other",), {})
