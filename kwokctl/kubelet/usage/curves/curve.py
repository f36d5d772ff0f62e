"""A use that changes with time, and how much of it there was between two times.

The integral is that of the curve itself. So a counter says the same however often it is read.
"""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Protocol

import msgspec


class Curve(Protocol):
    """The use of a resource by a container, as a function of its age in seconds."""

    def at(self, age: float) -> float:
        """Return the use at an age."""
        ...

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages."""
        ...


class Integrable(ABC):
    """A curve whose integral from the beginning is known as a formula."""

    __slots__ = ()

    @abstractmethod
    def at(self, age: float) -> float:
        """Return the use at an age."""

    @abstractmethod
    def area(self, age: float) -> float:
        """Return the integral of the use from the beginning until an age."""

    def between(self, start: float, end: float) -> float:
        """Return the integral of the use between two ages."""
        return self.area(end) - self.area(start)


class ConstantCurve(msgspec.Struct, frozen=True):
    """The same use at all times."""

    value: float

    def at(self, age: float) -> float:
        """Return the value."""
        return self.value

    def between(self, start: float, end: float) -> float:
        """Return the value times the time between."""
        return self.value * (end - start)


@lru_cache(maxsize=4096)
def constant_curve(value: float) -> ConstantCurve:
    """Return the curve of a value: one for the many containers that use the same."""
    return ConstantCurve(value)


NO_USE = ConstantCurve(0.0)
