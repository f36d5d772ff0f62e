"""The operators on numbers: CEL has 64 bits, and overflow is an error."""

from math import inf, isnan, nan
from operator import ge, gt, le, lt
from typing import Protocol

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.values.quantities import CelQuantity, in_thousandths


class Uint(int):
    """A `uint`; an `int` of CEL is an int."""

    __slots__ = ()


_HALF = 2**63
_WHOLE = 2**64


def integer(value: int) -> int:
    """Return an integer as `int`; raise CelValueError if it has more than 64 bits."""
    if -_HALF <= value < _HALF:
        return value
    raise CelValueError("the integer is too large: it has more than 64 bits")


def unsigned(value: int) -> Uint:
    """Return an integer as `uint`; raise CelValueError if it is out of range."""
    if 0 <= value < _WHOLE:
        return Uint(value)
    raise CelValueError("the integer is negative or has more than 64 bits, which a uint cannot be")


def add_int(a: int, b: int) -> int:
    """Add."""
    return integer(a + b)


def subtract_int(a: int, b: int) -> int:
    """Subtract."""
    return integer(a - b)


def multiply_int(a: int, b: int) -> int:
    """Multiply."""
    return integer(a * b)


def divide_int(a: int, b: int) -> int:
    """Divide, towards zero."""
    return integer(_quotient(a, b))


def modulo_int(a: int, b: int) -> int:
    """Return the rest of a division, which has the sign of the first."""
    return a - b * integer(_quotient(a, b))


def negate_int(a: int) -> int:
    """Change the sign."""
    return integer(-a)


def add_uint(a: Uint, b: Uint) -> Uint:
    """Add."""
    return unsigned(a + b)


def subtract_uint(a: Uint, b: Uint) -> Uint:
    """Subtract."""
    return unsigned(a - b)


def multiply_uint(a: Uint, b: Uint) -> Uint:
    """Multiply."""
    return unsigned(a * b)


def divide_uint(a: Uint, b: Uint) -> Uint:
    """Divide."""
    return Uint(_quotient(a, b))


def modulo_uint(a: Uint, b: Uint) -> Uint:
    """Return the rest of a division."""
    return Uint(a - b * _quotient(a, b))


def divide_double(a: float, b: float) -> float:
    """Divide as in IEEE 754."""
    if b:
        return a / b
    if a == 0 or isnan(a):
        return nan
    return inf if (a > 0) == (str(b)[0] != "-") else -inf


def divide_quantity(a: CelQuantity, b: int) -> CelQuantity:
    """Divide; the result has thousandths."""
    return in_thousandths(_quotient(a.thousandths(), b))


def divide_quantity_by_double(a: CelQuantity, b: float) -> CelQuantity:
    """Divide; the result has thousandths."""
    return in_thousandths(_truncated(divide_double(float(a), b) * 1000))


def multiply_quantity(a: CelQuantity, b: int) -> CelQuantity:
    """Multiply; the result has thousandths."""
    return in_thousandths(a.thousandths() * b)


def multiply_quantity_by_double(a: CelQuantity, b: float) -> CelQuantity:
    """Multiply; the result has thousandths."""
    return in_thousandths(_truncated(float(a) * b * 1000))


class NumberOrder(Protocol):
    """Compares two numbers."""

    def __call__(self, a: float, b: float, /) -> bool:
        """Return whether the two numbers are in the order that it tests."""
        ...


def ordering(compare: NumberOrder) -> NumberOrder:
    """Return a comparison of numbers that refuses what is not a number."""

    def function(a: float, b: float) -> bool:
        if isnan(a) or isnan(b):
            raise CelValueError("NaN is neither larger nor smaller than a number")
        return compare(a, b)

    return function


LESS, LESS_EQUAL, GREATER, GREATER_EQUAL = map(ordering, (lt, le, gt, ge))


def _quotient(a: int, b: int) -> int:
    if not b:
        raise CelValueError("division by zero")
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def _truncated(value: float) -> int:
    """Return a float without its fraction; what is beyond 64 bits is the smallest integer."""
    return int(value) if abs(value) < _HALF else -_HALF
