"""Decides what scaling has to change: which objects are too many, which are missing. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import chain

from kwokctl.clusters.scaling.reading import Known
from kwokctl.clusters.scaling.request import ScaleRequest
from kwokctl.clusters.scaling.serials import Serials


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What has to be made and what has to go for a set to have its size."""

    kept: tuple[str, ...]
    surplus: tuple[Known, ...]
    missing: Serials
    """Serials of the objects to make."""
    held: int = 0
    """How many that are deleted, or have been, exist until their finalizers are removed."""


class Names(Collection[str]):
    """The names of members that are kept, and of those that are made; the latter are not stored."""

    def __init__(self, request: ScaleRequest, made: Serials, kept: Collection[str] = ()) -> None:
        """Name the objects with the serials `made`, and those that are `kept`."""
        self._request = request
        self._made = made
        self._kept = frozenset(kept)

    def __len__(self) -> int:
        """Count them."""
        return len(self._made) + len(self._kept)

    def __iter__(self) -> Iterator[str]:
        """Give one after the other."""
        return chain(self._kept, map(self._request.object_name, self._made))

    def __contains__(self, name: object) -> bool:
        """Tell whether an object with this name is among them."""
        if not isinstance(name, str):
            return False
        return name in self._kept or self._request.serial_of(name) in self._made


def changes_for(request: ScaleRequest, members: Collection[Known]) -> Changes:
    """Keep the oldest members, and make those with the lowest serials that are free.

    What is being deleted counts no longer, but its name is not free yet.
    """
    living = sorted((m for m in members if not m.is_going), key=lambda m: (m.created, m.name))
    size = request.replicas if request.may_shrink else max(request.replicas, len(living))
    kept, surplus = living[:size], living[size:]
    going = [member for member in members if member.is_going]
    return Changes(
        kept=tuple(member.name for member in kept),
        surplus=tuple(surplus),
        missing=_missing(request, members, size - len(kept)),
        held=sum(member.is_held for member in (*surplus, *going)),
    )


def _missing(request: ScaleRequest, members: Collection[Known], number: int) -> Serials:
    if request.serial_length == 0:
        return Serials([range(min(number, 1))])  # even if its former bearer is being deleted
    serials = (request.serial_of(member.name) for member in members)
    return Serials.lowest_free(number, {serial for serial in serials if serial is not None})
