"""Whole numbers in ranges, in an order of their own: `0-99,200`."""

import re
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Self

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
        """Return the first so many of the numbers."""
        return Ranges(self._cut(number))

    def grown(self, number: int, taken: Iterable["Ranges"]) -> "Ranges":
        """Return so many numbers: these, and then the lowest that are in none of `taken`."""
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
    """Yield what lies between spans, which are sorted, and after them."""
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
