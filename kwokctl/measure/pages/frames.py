"""The frames of a map: from when things were in which state to what each frame shows. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.measure.pages.grid import TimeGrid, whole_seconds

MOST_FRAMES = 600
Transition = tuple[float, int, str]
"""The second of the run, the number of a thing, and its state from then on."""
Changes = list[tuple[int, str]]
"""The numbers of things that a frame shows otherwise than the one before, with their states."""


class Framing:
    """The states of things in one frame after the other.

    A frame shows the state at its end, or the worst one of the bad states in it, however short.
    """

    def __init__(self, count: int, first: str, badness: Mapping[str, int]) -> None:
        """Begin with `count` things in the state `first`; of bad states the one with more `badness` is shown."""
        self._now = [first] * count
        self._shown = [""] * count
        self._badness = badness
        self._worst: dict[int, str] = {}
        """The worst states in this frame of the things that have changed in it."""
        self._late: set[int] = {*range(count)}
        """Things of which the next frame may show another state though they do not change."""

    def change(self, thing: int, state: str) -> None:
        """Note the state of a thing from now on."""
        known = (self._worst.get(thing, ""), self._now[thing], state)
        self._worst[thing] = max(known, key=lambda each: self._badness.get(each, 0))
        self._now[thing] = state

    def frame(self) -> Changes:
        """End a frame, and return what it changes."""
        changes: Changes = []
        for thing in sorted(self._late.union(self._worst)):
            worst = self._worst.get(thing, "")
            state = worst if worst in self._badness else self._now[thing]
            if state != self._shown[thing]:
                self._shown[thing] = state
                changes.append((thing, state))
        self._late = {thing for thing in self._worst if self._shown[thing] != self._now[thing]}
        self._worst.clear()
        return changes


def fitting_frames(
    transitions: Sequence[Transition],
    count: int,
    seconds: float,
    *,
    first: str,
    badness: Mapping[str, int],
    most_changes: int,
) -> tuple[TimeGrid, list[Changes]]:
    """Return the shortest frames whose changes are few enough, and these; the first frame has all things."""
    most = MOST_FRAMES
    while True:
        grid = whole_seconds(seconds, most)
        frames = [*_frames(transitions, Framing(count, first, badness), grid)]
        if sum(map(len, frames)) - count <= most_changes or grid.count == 1:
            return grid, frames
        most = max(1, most // 2)


def _frames(
    transitions: Sequence[Transition], framing: Framing, grid: TimeGrid
) -> Iterator[Changes]:
    place = 0
    for number in range(grid.count):
        is_last = number == grid.count - 1
        until = grid.start + (number + 1) * grid.step
        while place < len(transitions) and (is_last or transitions[place][0] < until):
            _, thing, state = transitions[place]
            framing.change(thing, state)
            place += 1
        yield framing.frame()
