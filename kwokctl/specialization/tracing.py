"""Traces a function on one object: what it decides about texts and times becomes a condition of its plan.

A traced value is a symbol that knows what it is for the object at hand. A comparison is decided for that
one, and noted: the plan is for those objects only for which all of them come out the same.
"""

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from kwokctl.expr.gotemplate.symbols import Symbol, TextSymbol, refuse
from kwokctl.json_value import Json
from kwokctl.specialization.holes import Hole, HoleContent, mapped
from kwokctl.specialization.shape import Holes
from kwokctl.specialization.source import FunctionNames, Functions, Source

Traceable: TypeAlias = Callable[..., Any]
"""A pure function of texts and numbers."""
TracedCompute: TypeAlias = Callable[..., tuple[Holes, tuple[Any, ...]]]
"""Returns the texts of an object after what was traced, and other results.

It is given the texts before, the functions, and the numbers that were named. Raises MisfitError, and
whatever the functions raise.
"""
_INFIX: Mapping[Traceable, str] = {
    operator.add: "+", operator.sub: "-", operator.truediv: "/",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
}  # fmt: skip


class Tracer(Protocol):
    """What notes how values come about."""

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


class TracedSource(Source):
    """The code for what a function does with one object, written while it runs on that."""

    def __init__(
        self,
        holes: Sequence[Hole],
        sample: Holes,
        functions: Functions,
        names: FunctionNames,
        numbers: Mapping[str, float],
        times: Collection[Traceable],
    ) -> None:
        """Begin like `Source`, with numbers by name; `times` are the functions that return times of day."""
        super().__init__(holes, sample, functions, names)
        self._inputs = {name: TracedNumber(self, number, name) for name, number in numbers.items()}
        self._code |= {name: name for name in numbers}
        self._times = times
        self._variables: dict[str, str] = {}
        """The variables that have been written, by the code of what they hold."""
        self._conditions: set[str] = set()

    def number(self, name: str) -> Any:
        """Return a number that is given, traced."""
        return self._inputs[name]

    def opened(self, value: Json) -> Json:
        """Return an object of the shape with traced texts in its holes."""
        texts: dict[int, TracedText] = {}

        def text(symbol: Symbol) -> Symbol:
            if not isinstance(symbol, Hole):
                return symbol
            number = symbol.number
            if number not in texts:
                texts[number] = TracedText(self, self._sample[number], f"hole {number}")
            return texts[number]

        return mapped(value, text)

    def hole_of_traced(self, symbol: Symbol) -> Symbol:
        """Return the hole that a symbol fills if it is traced, else the symbol."""
        return self.hole(symbol) if isinstance(symbol, Traced) else symbol

    def traced(self, function: Traceable, *arguments: object) -> Any:
        """Return what a function returns for arguments some of which are traced."""
        value = function(*map(_bare, arguments))
        if isinstance(value, str) and value:
            text = TracedText(self, value, function, *arguments)
            if function in self._times:
                self._contents[self._written(text)] = HoleContent.TIME
            return text
        if type(value) is float and math.isfinite(value):
            return TracedNumber(self, value, function, *arguments)
        return refuse()

    def decided(self, function: Traceable, *arguments: object) -> Any:
        """Return what it returns for the object at hand; others are like that if it returns the same."""
        value = function(*map(_bare, arguments))
        code = self._call(function, arguments)
        if type(value) is bool:
            condition = f"not {code}" if value else code
        else:
            condition = f"{code} != {value!r}"
        if condition not in self._conditions:
            self._conditions.add(condition)
            self._lines.append(f"if {condition}: raise MisfitError")
        return value

    def traced_compute(self, holes: Sequence[Hole], results: Sequence[object]) -> TracedCompute:
        """Return the function for the texts of these holes, and for the results."""
        others = "".join(f"{self._argument(each)}, " for each in results)
        texts = self._texts_of(holes)
        return self._function(
            ", ".join(("holes, functions", *self._inputs)), f"{texts}, ({others})"
        )

    def _text(self, code: str, content: HoleContent, sample: str) -> TextSymbol:
        self._code[code] = code
        self._contents[code] = content
        return TracedText(self, sample, code)

    def _argument(self, value: object) -> str:
        if type(value) is float and math.isfinite(value):
            return repr(value)
        return super()._argument(value)

    def _written(self, symbol: Symbol) -> str:
        if not isinstance(symbol, Traced) or isinstance(symbol.function, str):
            return super()._written(symbol)
        code = self._call(symbol.function, symbol.arguments)
        if code not in self._variables:
            self._variables[code] = f"x{len(self._variables)}"
            self._lines.append(f"{self._variables[code]} = {code}")
        return self._variables[code]

    def _call(self, function: Traceable, arguments: Sequence[object]) -> str:
        codes = [self._argument(each) for each in arguments]
        if function in _INFIX:
            return f"({f' {_INFIX[function]} '.join(codes)})"
        return f"{self._name(function)}({', '.join(codes)})"


def _bare(value: object) -> object:
    return value.value if isinstance(value, Traced) else value


def _is_endless(value: object) -> bool:
    return isinstance(value, float) and math.isinf(value)
