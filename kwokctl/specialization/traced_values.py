"""Values with which a function is traced on one object: what it decides about them becomes a condition.

A traced value is a symbol that knows what it is for the object at hand. A comparison is decided for that
one, and noted: the plan is for those objects only for which all of them come out the same.
"""

import math
import operator
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol, refuse

Traceable: TypeAlias = Callable[..., Any]
"""A pure function of texts and numbers."""


class Tracer(Protocol):
    """Records how values are computed."""

    def traced(self, function: Traceable, *arguments: object) -> Any:
        """Return what a function returns for arguments some of which are traced."""
        ...

    def decided(self, function: Traceable, *arguments: object) -> Any:
        """Return what it returns for the object at hand, as a condition."""
        ...


class Traced(Symbol):
    """A value, and how it comes about."""

    __slots__ = ("tracer", "value")

    def __init__(
        self, tracer: Tracer, value: object, function: Traceable | str, *arguments: object
    ) -> None:
        """Be this value for the object at hand, and for others what the function returns."""
        super().__init__(function, *arguments)
        self.tracer = tracer
        self.value = value

    def deferred(self, function: Traceable, *arguments: object) -> Any:
        """Return what a function returns for some arguments, of which this is one."""
        return self.tracer.traced(function, *arguments)

    __hash__ = Symbol.__hash__


class TracedText(Traced, TextSymbol):
    """A text that is not empty."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Decide whether it is the same text."""
        if not isinstance(other, str | TracedText):
            return refuse() if isinstance(other, Symbol) else False
        return self is other or bool(self.tracer.decided(operator.eq, self, other))

    __hash__ = Symbol.__hash__


class TracedNumber(Traced):
    """A finite number."""

    __slots__ = ()

    def __add__(self, other: object) -> Any:
        """Add a number."""
        return self._with(operator.add, self, other)

    def __radd__(self, other: object) -> Any:
        """Add it to a number."""
        return self._with(operator.add, other, self)

    def __sub__(self, other: object) -> Any:
        """Subtract a number."""
        return self._with(operator.sub, self, other)

    def __rsub__(self, other: object) -> Any:
        """Subtract it from a number."""
        return self._with(operator.sub, other, self)

    def __truediv__(self, other: object) -> Any:
        """Divide it by a number."""
        return self._with(operator.truediv, self, other)

    def __lt__(self, other: object) -> bool:
        """Decide whether it is less."""
        return self._is(operator.lt, other)

    def __le__(self, other: object) -> bool:
        """Decide whether it is less or the same."""
        return self._is(operator.le, other)

    def __gt__(self, other: object) -> bool:
        """Decide whether it is more."""
        return self._is(operator.gt, other)

    def __ge__(self, other: object) -> bool:
        """Decide whether it is more or the same."""
        return self._is(operator.ge, other)

    def __eq__(self, other: object) -> bool:
        """Decide whether it is the same."""
        return self._is(operator.eq, other)

    def __int__(self) -> int:
        """Decide which whole number it has."""
        return int(self.tracer.decided(int, self))

    __hash__ = Symbol.__hash__

    def _with(self, function: Traceable, *arguments: object) -> Any:
        [other] = [each for each in arguments if each is not self] or [self]
        if _is_endless(other):
            return function(0.0, other) if arguments[0] is self else function(other, 0.0)
        return self.tracer.traced(function, *arguments)

    def _is(self, function: Traceable, other: object) -> bool:
        if _is_endless(other):
            return bool(function(0.0, other))
        return bool(self.tracer.decided(function, self, other))


def bare(value: object) -> object:
    """Return what a value is for the object at hand."""
    return value.value if isinstance(value, Traced) else value


def _is_endless(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)
