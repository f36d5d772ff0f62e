"""Finds the Stages that are for an object, among all of a kind, by a tree of questions. Pure.

Stages of a kind ask the same questions: whether an object is being deleted, in which phase it is. A
question is asked once for all of them, and only while the answer matters to a Stage that is still
possible. So the cost is that of the questions on the way, not that of the number of Stages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kwokctl.controller.stages.model import Stage
from kwokctl.controller.stages.questions import Question, Wanted, wanted_by
from kwokctl.controller.stages.selectors import Known
from kwokctl.json_value import Json

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
