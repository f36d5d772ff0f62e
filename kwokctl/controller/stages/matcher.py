"""Finds the Stages that are for an object, among all of a kind, by a tree of questions. Pure.

Stages of a kind ask the same questions: whether an object is being deleted, in which phase it is. A
question is asked once for all of them, and only while the answer matters to a Stage that is still
possible. So the cost is that of the questions on the way, not that of the number of Stages.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from kwokctl.controller.stages.compiled_stage import Stage
from kwokctl.controller.stages.selectors import Condition, FieldQuery, Known, Requirement, Selector
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


_MOST_NODES = 1024
"""Nodes of a tree; the objects of a kind are in far fewer states, mostly."""


class _Candidate(NamedTuple):
    """A Stage that is still possible, and what must hold for it yet, in its author's order."""

    stage: Stage
    wanted: Sequence[Wanted]


class _Node:
    """A question, and where each answer leads; without a question, the Stages that match."""

    __slots__ = ("candidates", "matches", "next", "question")

    def __init__(self, candidates: Sequence[_Candidate]) -> None:
        self.candidates = candidates
        self.question = _most_asked(candidates)
        self.next: dict[int, _Node] = {}
        self.matches = () if self.question else tuple([each.stage for each in candidates])

    def after(self, answer: int) -> "_Node":
        """Return the node for those that are possible after an answer."""
        return _Node([left for each in self.candidates if (left := self._left(each, answer))])

    def _left(self, candidate: _Candidate, answer: int) -> _Candidate | None:
        asked = [each for each in candidate.wanted if each.question is self.question]
        if not all(answer & each.bit for each in asked):
            return None
        return _Candidate(candidate.stage, [w for w in candidate.wanted if w not in asked])


class Matcher:
    """The tree for some Stages; it grows with the answers that objects give."""

    def __init__(self, stages: Sequence[Stage], *, room: int = _MOST_NODES) -> None:
        """Ask for these Stages, by a tree of at most `room` nodes."""
        self.stages = stages
        self._root = _Node(_candidates(stages))
        self._room = room

    def matches(self, value: Mapping[str, Json]) -> tuple[Stage, ...]:
        """Return the Stages that are for an object, in their order.

        Raises ExpressionError for a condition in CEL that fails.
        """
        node = self._root
        while node.question is not None:
            answer = node.question.answer(value)
            found = node.next.get(answer)
            if found is None:
                if self._room <= 0:
                    return _one_by_one(node, value)
                found = self._grown(node, answer)
            node = found
        return node.matches

    def _grown(self, node: _Node, answer: int) -> _Node:
        self._room -= 1
        found = node.next[answer] = node.after(answer)
        return found


def _one_by_one(node: _Node, value: Mapping[str, Json]) -> tuple[Stage, ...]:
    """Look at each Stage that is possible by itself: more nodes would cost more than they save."""
    known: Known = {}
    return tuple([s for s, _ in node.candidates if s.matches(value, known)])


def _candidates(stages: Sequence[Stage]) -> list[_Candidate]:
    """Return the Stages that can match at all; they share their questions."""
    selectors = [stage.selector for stage in stages if stage.selector is not None]
    wanted = iter(wanted_by(selectors))
    return [_Candidate(stage, next(wanted)) for stage in stages if stage.selector is not None]


def _most_asked(candidates: Sequence[_Candidate]) -> Question | None:
    """Return the question that most Stages ask next; None if nothing is left to ask.

    A Stage's own order is kept: what is costly comes after what makes it needless.
    """
    asked = Counter(each.wanted[0].question for each in candidates if each.wanted)
    return max(asked, key=lambda question: asked[question], default=None)
