"""The questions that the selectors of Stages ask about an object, each with all that they want to know. Pure.

An answer is a number with a bit for each thing that Stages want of it: whether it holds.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from kwokctl.controller.stages.selectors import Condition, FieldQuery, Requirement, Selector
from kwokctl.json_value import Json


class Question(Protocol):
    """Something that is looked up in an object."""

    def answer(self, value: Mapping[str, Json], /) -> int:
        """Return what holds for an object, a bit for each thing that is wanted."""
        ...


class Wanted(NamedTuple):
    """Something that must hold for an object, and the question whose answer shows it."""

    question: Question
    bit: int


class FieldQuestion:
    """A jq expression, and all requirements on what it finds."""

    __slots__ = ("_absent", "_of_text", "_other", "_requirements", "_values")

    def __init__(self, query: FieldQuery, requirements: Sequence[Requirement]) -> None:
        """Ask for all requirements on what `query` finds.

        What holds for nothing, and for a single text, is known in advance.
        """
        self._values = query.values
        self._requirements = requirements
        texts = frozenset().union(*(each.values for each in requirements))
        self._absent = self._bits([])
        self._other = self._bits([{}])
        self._of_text = {text: self._bits([text]) for text in texts}

    def answer(self, value: Mapping[str, Json]) -> int:
        """Return the requirements that hold."""
        found = self._values(value)
        if not found:
            return self._absent
        if len(found) == 1 and type(text := found[0]) is str:
            return self._of_text.get(text, self._other)
        return self._bits(found)

    def _bits(self, found: Sequence[Json]) -> int:
        bits = 0
        for number, requirement in enumerate(self._requirements):
            bits |= requirement.holds(found) << number
        return bits


class WordsQuestion:
    """Whether an object has certain labels and annotations."""

    __slots__ = ("_selector",)

    def __init__(self, selector: Selector) -> None:
        self._selector = selector

    def answer(self, value: Mapping[str, Json]) -> int:
        """Return 1 if it has them."""
        return int(self._selector.matches(value))


class ConditionQuestion:
    """Whether a condition in CEL holds."""

    __slots__ = ("_condition",)

    def __init__(self, condition: Condition) -> None:
        self._condition = condition

    def answer(self, value: Mapping[str, Json]) -> int:
        """Return 1 if it holds; raise ExpressionError if it cannot be evaluated."""
        return int(self._condition.holds(value))


def wanted_by(selectors: Sequence[Selector]) -> list[list[Wanted]]:
    """Return what each selector wants, in its order; what several ask for is one question."""
    fields = _by_requirement(each for selector in selectors for each in selector.conditions)
    found = []
    for selector in selectors:
        wanted = [fields[each.query, each.operator, each.values] for each in selector.conditions]
        if selector.labels or selector.annotations:
            words = Selector(selector.labels, selector.annotations)
            wanted.insert(0, Wanted(WordsQuestion(words), 1))
        found.append(wanted + [Wanted(ConditionQuestion(each), 1) for each in selector.expressions])
    return found


_Key = tuple[FieldQuery, str, frozenset[str]]


def _by_requirement(requirements: Iterable[Requirement]) -> dict[_Key, Wanted]:
    """Return what each different requirement wants."""
    by_query: dict[FieldQuery, dict[_Key, Requirement]] = {}
    for each in requirements:
        known = by_query.setdefault(each.query, {})
        known.setdefault((each.query, each.operator, each.values), each)
    wanted: dict[_Key, Wanted] = {}
    for query, asked in by_query.items():
        question = FieldQuestion(query, tuple(asked.values()))
        wanted.update({key: Wanted(question, 1 << number) for number, key in enumerate(asked)})
    return wanted
