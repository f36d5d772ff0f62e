"""The numbers of the objects to make, kept as ranges: a request may be for hundreds of millions."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate, chain
from typing import Self, overload


class Serials(Sequence[int]):
    """Ascending numbers, of which only the ranges without gaps are stored."""

    __slots__ = ("_firsts", "_places", "_ranges")

    def __init__(self, ranges: Collection[range]) -> None:
        """Take ascending ranges with the step 1 that do not overlap."""
        self._ranges = tuple(each for each in ranges if each)
        self._firsts = [each.start for each in self._ranges]
        self._places = [0, *accumulate(map(len, self._ranges))]
        """How many numbers come before each range, and how many there are in all."""

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

    def __len__(self) -> int:
        """Count them."""
        return self._places[-1]

    def __iter__(self) -> Iterator[int]:
        """Give one after the other."""
        return chain.from_iterable(self._ranges)

    def __contains__(self, number: object) -> bool:
        """Tell whether a number is among them."""
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
