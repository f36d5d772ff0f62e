"""What a test notes of remediators that act at known times, and what the scorecard must say of them, computed from the notes alone."""

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from tests.support.installed import until

SLACK = 0.005
"""Seconds by which two clocks of one machine, read one after the other, may differ."""
Bounds = tuple[float, float]


class Note(msgspec.Struct, frozen=True):
    """One act: the times of day before its request, after the answer, and when the record had it."""

    what: str
    """`inject`, `cordon`, `uncordon` or another word."""
    node: str
    before: float
    answered: float
    recorded: float

    def holds(self, time: float) -> bool:
        """Return whether a time of the score can be that of this act, on a machine of any speed."""
        return self.before - SLACK <= time <= self.recorded + SLACK

    def lateness(self, time: float) -> float:
        """Return how long after the answer a time is; negative if it was before that."""
        return time - self.answered


class Notes:
    """The acts of a test, in their order."""

    def __init__(self) -> None:
        self.all: list[Note] = []

    def do(
        self, what: str, node: str, act: Callable[[], object], is_recorded: Callable[[], object]
    ) -> Note:
        """Do something, and wait until the record has it."""
        before = time.time()
        act()
        answered = time.time()
        until(f"the record has '{what} {node}'", is_recorded)
        note = Note(what, node, before, answered, time.time())
        self.all.append(note)
        return note

    def of(self, what: str, node: str) -> list[Note]:
        """Return the acts of a kind on a node."""
        return [each for each in self.all if (each.what, each.node) == (what, node)]

    def one(self, what: str, node: str) -> Note:
        """Return the only act of a kind on a node."""
        (found,) = self.of(what, node)
        return found

    def nodes(self, what: str) -> set[str]:
        """Return the nodes on which something was done."""
        return {each.node for each in self.all if each.what == what}

    def recall(self) -> float:
        """Return the percentage of the faults after whose beginning their node was cordoned."""
        faulty = self.nodes("inject")
        return 100 * len(faulty & self.nodes("cordon")) / len(faulty)

    def precision(self) -> float:
        """Return the percentage of the cordons of nodes with a fault."""
        cordons = [each for each in self.all if each.what == "cordon"]
        return 100 * sum(each.node in self.nodes("inject") for each in cordons) / len(cordons)

    def flapping(self) -> int:
        """Return how often a node with a fault was cordoned again."""
        return sum(
            len(self.of("cordon", node)) - 1
            for node in self.nodes("inject")
            if self.of("cordon", node)
        )

    def over_cordon(self, end: float) -> Bounds:
        """Return the least and the largest percentage of the cordoned time, until `end`, that was without a fault."""
        wrong, right = _Sum(), _Sum()
        for node in self.nodes("cordon"):
            fixed = self.of("clear", node)
            for begin, stop in self._cordoned(node, end):
                if not self.of("inject", node):
                    wrong.add(begin, stop)
                elif fixed:
                    right.add(begin, _at(fixed[0]))
                    wrong.add(_at(fixed[0]), stop)
                else:
                    right.add(begin, stop)
        return (
            100 * wrong.least / (wrong.least + right.most),
            100 * wrong.most / (wrong.most + right.least),
        )

    def _cordoned(self, node: str, end: float) -> Iterator[tuple[Bounds, Bounds]]:
        """Yield when each cordon of a node began and ended."""
        acts = [
            each for each in self.all if each.node == node and each.what in ("cordon", "uncordon")
        ]
        for begin, stop in zip(acts[::2], [*acts[1::2], None], strict=False):
            yield _at(begin), (end, end) if stop is None else _at(stop)


class _Sum:
    """The least and the most that a sum of times can be."""

    def __init__(self) -> None:
        self.least = self.most = 0.0

    def add(self, begin: Bounds, end: Bounds) -> None:
        """Add the time from a beginning to an end, each of which lies between two times."""
        self.least += max(0.0, end[0] - begin[1])
        self.most += max(0.0, end[1] - begin[0])


def _at(note: Note) -> Bounds:
    return note.before - SLACK, note.recorded + SLACK


def least_lateness(times: Sequence[tuple[Note, float]]) -> float:
    """Return by how much the time of the score that is nearest to its act is after the answer."""
    return min(note.lateness(time) for note, time in times)
