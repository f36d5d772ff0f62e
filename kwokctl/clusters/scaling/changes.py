"""Decides what scaling has to change: which objects are too many, which are missing. Pure."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count, islice

from kwokctl.clusters.scaling.reading import Known
from kwokctl.clusters.scaling.request import ScaleRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What has to be made and what has to go for a set to have its size."""

    kept: tuple[str, ...]
    surplus: tuple[Known, ...]
    missing: tuple[int, ...]
    """Serials of the objects to make, ascending."""


def changes_for(request: ScaleRequest, members: Collection[Known]) -> Changes:
    """Keep the oldest members, and make those with the lowest serials that are free.

    What is being deleted counts no longer, but its name is not free yet.
    """
    living = sorted((m for m in members if not m.is_going), key=lambda m: (m.created, m.name))
    size = request.replicas if request.may_shrink else max(request.replicas, len(living))
    kept, surplus = living[:size], living[size:]
    return Changes(
        kept=tuple(member.name for member in kept),
        surplus=tuple(surplus),
        missing=_missing(request, members, size - len(kept)),
    )


def _missing(request: ScaleRequest, members: Collection[Known], number: int) -> tuple[int, ...]:
    if request.serial_length == 0:
        return (0,) if number else ()
    taken = {member.name for member in members}
    free = (serial for serial in count() if request.object_name(serial) not in taken)
    return tuple(islice(free, number))
