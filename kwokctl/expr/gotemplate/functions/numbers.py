"""Sprig's functions for numbers. Whole numbers divide as in Go: towards zero."""

import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from random import SystemRandom
from typing import Any

from kwokctl.expr.gotemplate.functions.arguments import real, whole
from kwokctl.expr.gotemplate.values import Fault
from kwokctl.expr.gotemplate.writing import shortest

_MOST = 1_000_000


def _divided(dividend: Any, divisor: Any) -> int:
    a, b = whole(dividend), _not_zero(whole(divisor))
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _rest(dividend: Any, divisor: Any) -> int:
    a, b = whole(dividend), _not_zero(whole(divisor))
    return abs(a) % abs(b) * (-1 if a < 0 else 1)


def _not_zero(number: int) -> int:
    if not number:
        raise Fault("a number cannot be divided by zero")
    return number


def _exactly(step: Callable[[Decimal, Decimal], Decimal]) -> Callable[..., float]:
    """Return a function that reckons with decimal fractions: 0.1 and 0.2 are 0.3."""

    def reckon(first: Any, *others: Any) -> float:
        total = _decimal(first)
        for other in others:
            total = step(total, _decimal(other))
        return float(total)

    return reckon


def _decimal(value: Any) -> Decimal:
    return Decimal(shortest(real(value)))


def _quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    if not divisor:
        raise Fault("a number cannot be divided by zero")
    return dividend / divisor


def _product(first: Any, *others: Any) -> int:
    return math.prod(map(whole, others), start=whole(first))


def _rounded(value: Any, digits: Any, half: Any = 0.5) -> float:
    scale = 10.0 ** whole(digits)
    scaled = scale * real(value)
    fraction, _ = math.modf(scaled)
    return (math.ceil(scaled) if fraction >= real(half) else math.floor(scaled)) / scale


def _until(end: Any) -> list[int]:
    return _steps(0, end, -1 if whole(end) < 0 else 1)


def _steps(start: Any, end: Any, step: Any) -> list[int]:
    numbers = range(whole(start), whole(end), whole(step) or 1) if whole(step) else range(0)
    if len(numbers) > _MOST:
        raise Fault(f"a list of {len(numbers)} numbers is too long")
    return list(numbers)


def _sequence(*bounds: Any) -> str:
    """Return numbers in a row, both ends included, as the shell's `seq` does."""
    numbers = [whole(bound) for bound in bounds]
    match numbers:
        case [end]:
            start, step = 1, -1 if end < 1 else 1
        case [start, end]:
            step = -1 if end < start else 1
        case [start, step, end]:
            pass
        case _:
            return ""
    return " ".join(map(str, _steps(start, end + (1 if step > 0 else -1), step)))


def _from_octal(value: Any) -> int:
    try:
        return int(str(value), 8)
    except ValueError:
        return 0


def _atoi(value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        return 0


def _random(low: Any, high: Any) -> int:
    if whole(high) <= whole(low):
        raise Fault("'randInt' needs a lower and a higher bound")
    return SystemRandom().randrange(whole(low), whole(high))


def _all_whole(values: Iterable[Any]) -> list[int]:
    return [whole(value) for value in values]


def _all_real(values: Iterable[Any]) -> list[float]:
    return [real(value) for value in values]


NUMBERS: dict[str, Callable[..., Any]] = {
    "add": lambda *values: sum(_all_whole(values)),
    "add1": lambda value: whole(value) + 1,
    "add1f": lambda value: float(_decimal(value) + 1),
    "addf": _exactly(Decimal.__add__),
    "atoi": _atoi,
    "biggest": lambda first, *values: max(_all_whole([first, *values])),
    "ceil": lambda value: float(math.ceil(real(value))),
    "div": _divided,
    "divf": _exactly(_quotient),
    "float64": real,
    "floor": lambda value: float(math.floor(real(value))),
    "int": whole,
    "int64": whole,
    "max": lambda first, *values: max(_all_whole([first, *values])),
    "maxf": lambda first, *values: max(_all_real([first, *values])),
    "min": lambda first, *values: min(_all_whole([first, *values])),
    "minf": lambda first, *values: min(_all_real([first, *values])),
    "mod": _rest,
    "mul": _product,
    "mulf": _exactly(Decimal.__mul__),
    "randInt": _random,
    "round": _rounded,
    "seq": _sequence,
    "sub": lambda first, second: whole(first) - whole(second),
    "subf": _exactly(Decimal.__sub__),
    "toDecimal": _from_octal,
    "until": _until,
    "untilStep": _steps,
}
