"""Sprig's functions for numbers. Whole numbers divide as in Go: towards zero."""

import math
import re
from collections.abc import Callable, Iterable
from decimal import ROUND_HALF_UP, Decimal, localcontext

from kwokctl.expr.gotemplate.functions.arguments import count, real, text, whole
from kwokctl.expr.gotemplate.go.formatting import plain
from kwokctl.expr.gotemplate.go.go_types import Int64, Ints, UntypedConstant
from kwokctl.expr.gotemplate.go.go_values import kind
from kwokctl.expr.gotemplate.go.numerals import shortest
from kwokctl.expr.gotemplate.template_error import TemplateError

_MOST = 1_000_000
_MOST_DIGITS = 300
_BITS = 2**64


def _int64(number: int) -> Int64:
    """Return a number as 64 bits hold it."""
    return Int64((number + _BITS // 2) % _BITS - _BITS // 2)


def _divided(dividend: object, divisor: object) -> Int64:
    a, b = whole(dividend), _not_zero(whole(divisor))
    return _int64(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def _rest(dividend: object, divisor: object) -> Int64:
    a, b = whole(dividend), _not_zero(whole(divisor))
    return Int64(abs(a) % abs(b) * (-1 if a < 0 else 1))


def _not_zero(number: int) -> int:
    if not number:
        raise TemplateError("a number cannot be divided by zero")
    return number


def _exactly(step: Callable[[Decimal, Decimal], Decimal]) -> Callable[..., float]:
    """Return a function that calculates with decimal fractions: 0.1 and 0.2 are 0.3."""

    def reckon(first: object, *others: object) -> float:
        total = _decimal(first)
        for other in others:
            total = step(total, _decimal(other))
        return float(total) + 0.0  # there is no negative zero

    return reckon


def _decimal(value: object) -> Decimal:
    number = real(value)
    if not math.isfinite(number):
        raise TemplateError(f"{kind(value)} is not a number to calculate with")
    return Decimal(shortest(number))


def _quotient(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Divide, to sixteen places: https://pkg.go.dev/github.com/shopspring/decimal#Decimal.Div."""
    if not divisor:
        raise TemplateError("a number cannot be divided by zero")
    with localcontext(prec=400, rounding=ROUND_HALF_UP):
        return (dividend / divisor).quantize(Decimal("1e-16"))


def _product(first: object, *others: object) -> Int64:
    return _int64(math.prod(map(whole, others), start=whole(first)))


def _rounded(value: object, digits: object, half: object = 0.5) -> float:
    if not isinstance(half, int | float) or type(half) not in {int, float, UntypedConstant}:
        raise TemplateError(f"{kind(half)} is not a number to round by")
    if abs(count(digits)) > _MOST_DIGITS:
        raise TemplateError(f"a number cannot be rounded to {digits} digits")
    scale = 10.0 ** count(digits)
    scaled = scale * real(value)
    fraction, _ = math.modf(scaled)
    return (_ceiling(scaled) if fraction >= half else _floor(scaled)) / scale


def _ceiling(value: object) -> float:
    number = real(value)
    return math.copysign(math.ceil(number), number) if math.isfinite(number) else number


def _floor(value: object) -> float:
    number = real(value)
    return math.copysign(math.floor(number), number) if math.isfinite(number) else number


def _until(end: object) -> Ints:
    return _steps(0, end, -1 if count(end) < 0 else 1)


def _steps(start: object, end: object, step: object) -> Ints:
    first, last, size = count(start), count(end), count(step)
    if not size or (size > 0) is (last < first):
        return Ints()
    numbers = range(first, last, size)
    if len(numbers) > _MOST:
        raise TemplateError(f"a list of {len(numbers)} numbers is too long")
    return Ints(numbers)


def _sequence(*bounds: object) -> str:
    """Return numbers in a row, both ends included, as the shell's `seq` does."""
    numbers = [count(bound) for bound in bounds]
    match numbers:
        case [end]:
            start, step = 1, -1 if end < 1 else 1
        case [start, end]:
            step = -1 if end < start else 1
        case [start, step, end]:
            if end < start and step > 0:
                return ""
        case _:
            return ""
    return " ".join(map(str, _steps(start, end + (-1 if end < start else 1), step)))


def _from_octal(value: object) -> Int64:
    digits = plain(value)
    if not re.match(r"[-+]?[0-7]+\Z", digits):
        return Int64(0)
    number = int(digits, 8)
    return Int64(number if -_BITS // 2 <= number < _BITS // 2 else 0)


def _atoi(value: object) -> int:
    return int(text(value)) if re.match(r"[-+]?[0-9]+\Z", text(value)) else 0


def _all_whole(values: Iterable[object]) -> list[int]:
    return [whole(value) for value in values]


def _all_real(values: Iterable[object]) -> list[float]:
    return [real(value) for value in values]


_PLUS = _exactly(Decimal.__add__)

NUMBERS: dict[str, Callable[..., object]] = {
    "add": lambda *values: _int64(sum(_all_whole(values))),
    "add1": lambda value: _int64(whole(value) + 1),
    "add1f": lambda value: _PLUS(value, 1),
    "addf": lambda *values: _PLUS(0.0, *values),
    "atoi": _atoi,
    "biggest": lambda first, *values: Int64(max(_all_whole([first, *values]))),
    "ceil": _ceiling,
    "div": _divided,
    "divf": _exactly(_quotient),
    "float64": lambda value: float(real(value)),
    "floor": _floor,
    "int": lambda value: int(whole(value)),
    "int64": lambda value: Int64(whole(value)),
    "max": lambda first, *values: Int64(max(_all_whole([first, *values]))),
    "maxf": lambda first, *values: max(_all_real([first, *values])),
    "min": lambda first, *values: Int64(min(_all_whole([first, *values]))),
    "minf": lambda first, *values: min(_all_real([first, *values])),
    "mod": _rest,
    "mul": _product,
    "mulf": _exactly(Decimal.__mul__),
    "round": _rounded,
    "seq": _sequence,
    "sub": lambda first, second: _int64(whole(first) - whole(second)),
    "subf": _exactly(Decimal.__sub__),
    "toDecimal": _from_octal,
    "until": _until,
    "untilStep": _steps,
}
