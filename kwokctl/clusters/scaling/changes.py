"""Decides what scaling has to change: which objects to delete, which serials are missing. Pure.

Numbers are kept as ranges: a request may be for hundreds of millions of objects.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Self, overload

import msgspec

from kwokctl.clusters.scaling.cluster_reader import Existing
from kwokctl.clusters.scaling.scale_request import ScaleRequest
from kwokctl.replacing import replace


class Serials(Sequence[int]):
    """Ascending numbers, of which only the ranges without gaps are stored."""

    __slots__ = ("_firsts", "_places", "_ranges")

    def __init__(self, ranges: Collection[range]) -> None:
        """Take ascending ranges with the step 1 that do not overlap."""
        self._ranges = tuple(each for each in ranges if each)
        self._firsts = [each.start for each in self._ranges]
        self._places = [0, *accumulate(map(len, self._ranges))]
        """The count of numbers before each range, and of all."""

    @classmethod
    def lowest_free(cls, number: int, taken: Collection[int]) -> Self:
        """Return the `number` lowest numbers from 0 on that are not `taken`."""
        ranges: list[range] = []
        start = 0
        for each in sorted(taken):
            if each - start >= number:
                break
            ranges.append(range(start, each))
            number -= each - start
            start = each + 1
        return cls([*ranges, range(start, start + number)])

    @classmethod
    def of(cls, numbers: Collection[int]) -> Self:
        """Return some numbers in their order."""
        return cls([range(each, each + 1) for each in sorted(numbers)])

    def without(self, numbers: Collection[int]) -> Self:
        """Return these numbers but for some of them."""
        ranges: list[range] = []
        for each in self._ranges:
            start = each.start
            for number in sorted(n for n in numbers if n in each):
                ranges.append(range(start, number))
                start = number + 1
            ranges.append(range(start, each.stop))
        return type(self)(ranges)

    def __len__(self) -> int:
        return self._places[-1]

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self._ranges)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number in self._range_of(number)

    @overload
    def __getitem__(self, place: int) -> int: ...
    @overload
    def __getitem__(self, place: slice) -> Self: ...
    def __getitem__(self, place: int | slice) -> "int | Self":
        """Return the number at a place, or those of a slice with the step 1."""
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            assert step == 1
            return type(self)([*self._cut(start, stop)])
        if place < 0:
            place += len(self)
        if not 0 <= place < len(self):
            raise IndexError(place)
        at = bisect_right(self._places, place) - 1
        return self._ranges[at][place - self._places[at]]

    def index(self, number: int, start: int = 0, stop: int | None = None) -> int:
        """Return the place of a number; ValueError if it is not among them."""
        found = self._range_of(number)
        if number not in found:
            raise ValueError(number)
        place = self._places[bisect_left(self._firsts, found.start)] + number - found.start
        if not start <= place < (len(self) if stop is None else stop):
            raise ValueError(number)
        return place

    def _range_of(self, number: int) -> range:
        """Return the range in which a number is if it is in any."""
        at = bisect_right(self._firsts, number) - 1
        return self._ranges[at] if at >= 0 else range(0)

    def _cut(self, start: int, stop: int) -> Iterator[range]:
        for place, each in zip(self._places, self._ranges, strict=False):
            yield each[max(start - place, 0) : max(stop - place, 0)]


_WRITTEN = re.compile(r"([0-9]{1,12})(?:-([0-9]{1,12}))?")


class Ranges:
    """Numbers, each of which has a place."""

    __slots__ = ("_ends", "spans")

    def __init__(self, spans: Iterable[tuple[int, int]] = ()) -> None:
        """Hold the numbers from the first to before the last of each span."""
        self.spans = tuple(span for span in spans if span[0] < span[1])
        self._ends = tuple(accumulate(last - first for first, last in self.spans))

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `str` gives; ValueError for something else."""
        return cls(_span(part) for part in text.split(",") if part)

    def __str__(self) -> str:
        return ",".join(
            f"{first}-{last - 1}" if last - first > 1 else f"{first}" for first, last in self.spans
        )

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, place: int) -> int:
        """Return the number at a place; IndexError if there is none."""
        for (_, last), end in zip(self.spans, self._ends, strict=True):
            if 0 <= place < end:
                return last - (end - place)
        raise IndexError(place)

    def first(self, number: int) -> "Ranges":
        """Return the first `number` of them."""
        return Ranges(self._cut(number))

    def grown(self, number: int, taken: Iterable["Ranges"]) -> "Ranges":
        """Return `number` of them: these, and then the lowest that are in none of `taken`."""
        spans = list(self.spans)
        missing = number - len(self)
        for first, last in _gaps(sorted(s for ranges in (self, *taken) for s in ranges.spans)):
            if missing <= 0:
                break
            end = first + missing if last is None else min(last, first + missing)
            missing -= end - first
            begins = spans.pop()[0] if spans and spans[-1][1] == first else first
            spans.append((begins, end))
        return Ranges(spans)

    def _cut(self, number: int) -> Iterator[tuple[int, int]]:
        for (first, last), end in zip(self.spans, self._ends, strict=True):
            yield first, min(last, last - end + number)


def _gaps(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int | None]]:
    """Yield the gaps between spans, which are sorted, and after them."""
    free = 0
    for first, last in spans:
        if free < first:
            yield free, first
        free = max(free, last)
    yield free, None


def _span(text: str) -> tuple[int, int]:
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise ValueError(f"'{text}' is not a range of numbers")
    first = int(match[1])
    return first, int(match[2] or first) + 1


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """The objects to create and to delete for a set to have its size."""

    kept: tuple[str, ...]
    surplus: tuple[Existing, ...]
    missing: Serials
    """Serials of the objects to make."""
    held: int = 0
    """The number of deleted objects that exist until their finalizers are removed."""

    @property
    def members(self) -> int:
        """The number of members before the change."""
        return len(self.kept) + len(self.surplus)

    def declined(self) -> "Changes":
        """Return those of a set that stays as it is."""
        kept = (*self.kept, *(member.name for member in self.surplus))
        return replace(self, kept=kept, surplus=(), missing=Serials([]), held=0)


class Names(Collection[str]):
    """The names of members that are kept, and of those that are made; the latter are not stored."""

    def __init__(self, request: ScaleRequest, made: Serials, kept: Collection[str] = ()) -> None:
        """Name the objects with the serials `made`, and those that are `kept`."""
        self._request = request
        self._made = made
        self._kept = frozenset(kept)

    def __len__(self) -> int:
        return len(self._made) + len(self._kept)

    def __iter__(self) -> Iterator[str]:
        return chain(self._kept, map(self._request.object_name, self._made))

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        return name in self._kept or self._request.serial_of(name) in self._made


def changes_for(request: ScaleRequest, members: Collection[Existing]) -> Changes:
    """Keep the oldest members, and make those with the lowest serials that are free.

    An object that is being deleted does not count, but its name is not free yet.
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


def _missing(request: ScaleRequest, members: Collection[Existing], number: int) -> Serials:
    if number == 0:
        return Serials([])
    if request.serial_length == 0:
        return Serials(
            [range(min(number, 1))]
        )  # even if the object with this name is being deleted
    serials = (request.serial_of(member.name) for member in members)
    return Serials.lowest_free(number, {serial for serial in serials if serial is not None})
