"""The functions that turn a value into one of another type."""

import re
from math import isfinite

from kwokctl.expr.cel.fault import CelValueError
from kwokctl.expr.cel.values.arithmetic import integer, unsigned
from kwokctl.expr.cel.values.scalars import CelDuration, CelTime, Uint
from kwokctl.expr.cel.values.times import SECOND, instant

_WHOLE = re.compile(r"[-+]?[0-9]+", re.ASCII)
_REAL = re.compile(
    r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|inf(?:inity)?|nan)",
    re.IGNORECASE | re.ASCII,
)
_HEXADECIMAL = re.compile(
    r"[-+]?0[xX](?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[-+]?[0-9]+", re.IGNORECASE
)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


def _fault(value: object, type_: str) -> CelValueError:
    return CelValueError(f"'{value}' cannot be made a value of the type {type_}")


def int_from_text(value: str) -> int:
    """Read an integer in decimal digits."""
    if _WHOLE.fullmatch(value) is None:
        raise _fault(value, "int")
    return integer(int(value))


def int_from_double(value: float) -> int:
    """Leave the fraction out."""
    if not isfinite(value) or abs(value) >= 2**63:
        raise _fault(value, "int")
    return int(value)


def int_from_time(value: CelTime) -> int:
    """Return the whole seconds since 1970."""
    return int(value) // SECOND


def uint_from_text(value: str) -> Uint:
    """Read an integer in decimal digits, without a sign."""
    if _WHOLE.fullmatch(value) is None or value[0] in "+-":
        raise _fault(value, "uint")
    return unsigned(int(value))


def uint_from_double(value: float) -> Uint:
    """Leave the fraction out."""
    if not isfinite(value) or value < 0 or value >= 2**64:
        raise _fault(value, "uint")
    return Uint(value)


def double_from_text(value: str) -> float:
    """Read a float as Go spells them."""
    if _REAL.fullmatch(value):
        return float(value)
    if _HEXADECIMAL.fullmatch(value):
        return float.fromhex(value)
    raise _fault(value, "double")


def bool_from_text(value: str) -> bool:
    """Read a boolean as Go spells them."""
    if value not in _TRUE | _FALSE:
        raise _fault(value, "bool")
    return value in _TRUE


def text_from_bytes(value: bytes) -> str:
    """Read bytes as UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError as e:
        raise _fault("bytes that are not UTF-8", "string") from e


def text_from_duration(value: CelDuration) -> str:
    """Write a duration in seconds: `90s`, `1.5s`."""
    whole, nanos = divmod(abs(int(value)), SECOND)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    return f"{'-' if value < 0 else ''}{whole}{fraction}s"


def time_from_int(value: int) -> CelTime:
    """Return the time that is a number of seconds after 1970."""
    return instant(value * SECOND)


def no_duration(value: int) -> CelDuration:
    """Refuse: an integer has no unit."""
    raise _fault(value, "duration")
