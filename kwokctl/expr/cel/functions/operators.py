"""The operators whose values must be of certain types; `==`, `in` and logic take any and are not here."""

from collections.abc import Callable
from operator import add, neg, sub

from kwokctl.expr.cel.cel_types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    QUANTITY,
    STRING,
    TIME,
    UINT,
    A,
    CelType,
    list_of,
)
from kwokctl.expr.cel.functions.overload import Overload
from kwokctl.expr.cel.values import arithmetic
from kwokctl.expr.cel.values.arithmetic import GREATER, GREATER_EQUAL, LESS, LESS_EQUAL, Uint
from kwokctl.expr.cel.values.cel_times import CelDuration, CelTime, instant, span
from kwokctl.expr.cel.values.quantities import CelQuantity


def _later(a: CelTime, b: CelDuration) -> CelTime:
    return instant(a + b, a.offset)


def _earlier(a: CelTime, b: CelDuration) -> CelTime:
    return instant(a - b, a.offset)


def _infix(
    sign: str,
    left: CelType,
    right: CelType,
    gives: CelType,
    does: Callable[..., object] | None,
    *,
    is_python: bool = False,
) -> Overload:
    inline = f"({{0}} {sign} {{1}})" if is_python else ""
    return Overload(name=sign, takes=(left, right), gives=gives, does=does, inline=inline)


_LIST = list_of(A)
_SUMS = (
    _infix("+", BYTES, BYTES, BYTES, add, is_python=True),
    _infix("+", DOUBLE, DOUBLE, DOUBLE, add, is_python=True),
    _infix("+", DURATION, DURATION, DURATION, lambda a, b: span(a + b)),
    _infix("+", DURATION, TIME, TIME, lambda a, b: _later(b, a)),
    _infix("+", TIME, DURATION, TIME, _later),
    _infix("+", INT, INT, INT, arithmetic.add_int),
    _infix("+", _LIST, _LIST, _LIST, add, is_python=True),
    _infix("+", STRING, STRING, STRING, add, is_python=True),
    _infix("+", UINT, UINT, UINT, arithmetic.add_uint),
    _infix("-", DOUBLE, DOUBLE, DOUBLE, sub, is_python=True),
    _infix("-", DURATION, DURATION, DURATION, lambda a, b: span(a - b)),
    _infix("-", INT, INT, INT, arithmetic.subtract_int),
    _infix("-", TIME, DURATION, TIME, _earlier),
    _infix("-", TIME, TIME, DURATION, lambda a, b: span(a - b)),
    _infix("-", UINT, UINT, UINT, arithmetic.subtract_uint),
    Overload(name="-_", takes=(DOUBLE,), gives=DOUBLE, does=neg, inline="(-{0})"),
    Overload(name="-_", takes=(INT,), gives=INT, does=arithmetic.negate_int),
)
_PRODUCTS = (
    _infix("*", DOUBLE, DOUBLE, DOUBLE, lambda a, b: a * b, is_python=True),
    _infix("*", INT, INT, INT, arithmetic.multiply_int),
    _infix("*", UINT, UINT, UINT, arithmetic.multiply_uint),
    _infix("/", DOUBLE, DOUBLE, DOUBLE, arithmetic.divide_double),
    _infix("/", INT, INT, INT, arithmetic.divide_int),
    _infix("/", UINT, UINT, UINT, arithmetic.divide_uint),
    _infix("%", INT, INT, INT, arithmetic.modulo_int),
    _infix("%", UINT, UINT, UINT, arithmetic.modulo_uint),
)
_COMPARISONS = tuple(
    _infix(sign, one, one, BOOL, does, is_python=does is None)
    for sign, numbers in (("<", LESS), ("<=", LESS_EQUAL), (">", GREATER), (">=", GREATER_EQUAL))
    for one, does in (
        (BOOL, None), (INT, None), (UINT, None), (STRING, None), (BYTES, None), (TIME, None),
        (DURATION, None), (DOUBLE, numbers),
    )
)  # fmt: skip

# kwok's quantities accept any type on their right side; wrong ones fail in the evaluation.
_QUANTITIES = tuple(
    _infix(sign, QUANTITY, DYN, gives, None)
    for signs, gives in (("+-*/", QUANTITY), (("<", "<=", ">", ">="), BOOL))
    for sign in signs
)
QUANTITY_ACTIONS: tuple[tuple[str, type, type, Callable[..., object]], ...] = (
    ("+", CelQuantity, CelQuantity, add),
    ("-", CelQuantity, CelQuantity, sub),
    ("*", CelQuantity, int, arithmetic.multiply_quantity),
    ("*", CelQuantity, Uint, arithmetic.multiply_quantity),
    ("*", CelQuantity, float, arithmetic.multiply_quantity_by_double),
    ("/", CelQuantity, int, arithmetic.divide_quantity),
    ("/", CelQuantity, Uint, arithmetic.divide_quantity),
    ("/", CelQuantity, float, arithmetic.divide_quantity_by_double),
)
"""The operations on quantities: the sign, the types of both sides, and the function."""

OPERATORS = (
    *_SUMS,
    *_PRODUCTS,
    *_COMPARISONS,
    *_QUANTITIES,
    Overload(name="-_", takes=(QUANTITY,), gives=QUANTITY, does=neg, inline="(-{0})"),
    Overload(name="!_", takes=(BOOL,), gives=BOOL, inline="(not {0})"),
)
