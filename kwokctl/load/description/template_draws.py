"""The random functions of templates, such as `randInt`, drawn by the seed as parameters are."""

from collections.abc import Callable, Mapping
from itertools import count

from kwokctl.draws.streams import DrawStream
from kwokctl.expr.gotemplate.functions.random import random_functions


class TemplateDraws:
    """The draws of one load's templates: the values of an arrival depend on seed, load, place and number only."""

    def __init__(self, stream: DrawStream) -> None:
        """Draw from the stream of the load."""
        self._whole = stream.below("functions")
        self._names = "", ""
        self._stream: DrawStream | None = None
        self._positions = count()
        self._functions = random_functions(self)

    def at(self, index: int, place: str) -> Mapping[str, Callable[..., object]]:
        """Return the functions for the template at a place, which are called for an arrival until the next call."""
        self._names = place, str(index)
        self._stream = None
        return self._functions

    def below(self, limit: int) -> int:
        """Return a whole number from 0 to below `limit`."""
        return min(int(self._next() * limit), limit - 1)

    def choices(self, population: str, *, k: int) -> list[str]:
        """Return that many letters of a text."""
        return [population[self.below(len(population))] for _ in range(k)]

    def randbytes(self, number: int) -> bytes:
        """Return that many bytes."""
        return bytes([self.below(256) for _ in range(number)])

    def _next(self) -> float:
        if self._stream is None:  # few templates draw
            place, index = self._names
            self._stream = self._whole.below(place).below(index)
            self._positions = count()
        return self._stream.at(next(self._positions))
