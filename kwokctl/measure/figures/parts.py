"""Values that are made up of those of several parts, such as the components of a cluster. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from kwokctl.measure.figures.levels import levels
from kwokctl.measure.figures.values import Levels, Value
from kwokctl.replacing import replace

Changes = Sequence[tuple[int, float]]
"""The times at which a level changed, and to what."""


def levels_of_parts(parts: Mapping[str, Changes], begin: int, end: int) -> Value:
    """Return the sum of levels between two times, and each of them; the largest first."""
    whole = levels(_sums(parts), begin, end)
    found = {name: levels(changes, begin, end) for name, changes in parts.items()}
    known = {name: each for name, each in found.items() if isinstance(each, Levels)}
    if not isinstance(whole, Levels) or set(known) <= {""}:
        return whole
    ordered = sorted(known.items(), key=lambda item: (-item[1].max, item[0]))
    return replace(whole, parts=dict(ordered))


def _sums(parts: Mapping[str, Changes]) -> Iterator[tuple[int, float]]:
    now: dict[str, float] = {}
    changes = [(time, name, level) for name, each in parts.items() for time, level in each]
    for time, name, level in sorted(changes):
        now[name] = level
        yield time, sum(now.values())
