"""The limits of a cluster's marks: their size, and their age."""

from collections.abc import Sequence

import msgspec

from kwokctl.clusters.time_travel.marks import Mark
from kwokctl.config.quantity import to_text
from kwokctl.errors import CapacityError


class MarkBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a cluster's marks; 0 means no limit."""

    size: int = 4 * 2**30
    """The most bytes of all marks of a cluster."""
    age: float = 0
    """The greatest age of a mark in seconds."""


def demand_fits(mark: Mark, bounds: MarkBounds) -> None:
    """Raise CapacityError for a mark that alone exceeds the limit."""
    if bounds.size and mark.size > bounds.size:
        raise CapacityError(
            f"the mark '{mark.name}' would take {to_text(mark.size)}, more than the "
            f"{to_text(bounds.size)} that marks may take",
            hint="allow more with --max-size; no mark was made or removed",
        )


def beyond(marks: Sequence[Mark], newest: Mark, bounds: MarkBounds) -> list[Mark]:
    """Return the marks to remove, the oldest first, and never the newest."""
    others = sorted((mark for mark in marks if mark.name != newest.name), key=lambda m: m.made)
    gone = [mark for mark in others if bounds.age and newest.made - mark.made > bounds.age]
    left = others[len(gone) :]
    total = newest.size + sum(mark.size for mark in left)
    while bounds.size and left and total > bounds.size:
        gone.append(left.pop(0))
        total -= gone[-1].size
    return gone
