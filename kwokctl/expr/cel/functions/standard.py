"""The functions that every environment of CEL has:
https://github.com/google/cel-spec/blob/master/doc/langdef.md#standard-definitions.
"""

import re
from collections.abc import Callable
from math import isfinite

from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.cel.cel_types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    RESOURCES,
    STRING,
    TIME,
    UINT,
    A,
    B,
    CelType,
    list_of,
    map_of,
)
from kwokctl.expr.cel.functions.overload import Overload, methods
from kwokctl.expr.cel.values.arithmetic import Uint, integer, unsigned
from kwokctl.expr.cel.values.cel_times import (
    AMOUNTS,
    PARTS,
    SECOND,
    CelDuration,
    CelTime,
    instant,
    parse_instant,
    parse_span,
    show_instant,
)
from kwokctl.expr.gotemplate.go.numerals import shortest
from kwokctl.expr.regexp import RegexpError, compile_regexp
from kwokctl.json_value import Json

_WHOLE = re.compile(r"[-+]?[0-9]{1,1000}", re.ASCII)
"""Zeros before the number included: Python refuses to read more than some thousands of digits."""
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


def _matches(text: str, pattern: str) -> bool:
    try:
        return compile_regexp(pattern).is_in(text)
    except RegexpError as e:
        raise CelValueError(_no_pattern(pattern, e)) from e


def _check_pattern(pattern: Json) -> str:
    """Return what is wrong with a pattern that is written out."""
    try:
        compile_regexp(str(pattern))
    except RegexpError as e:
        return _no_pattern(str(pattern), e)
    return ""


def _no_pattern(pattern: str, error: RegexpError) -> str:
    return f"'{pattern}' is not a regular expression: {error}"


def _same(value: object) -> object:
    return value


def _converted(name: str, gives: CelType, **does: Callable[..., object]) -> tuple[Overload, ...]:
    return tuple(
        Overload(name=name, takes=(_TYPES[kind],), gives=gives, does=function)
        for kind, function in does.items()
    )


_TYPES = {
    "bool": BOOL, "bytes": BYTES, "double": DOUBLE, "duration": DURATION, "int": INT,
    "string": STRING, "time": TIME, "uint": UINT,
}  # fmt: skip
_CONVERSIONS = (
    *_converted("bool", BOOL, bool=_same, string=bool_from_text),
    *_converted("bytes", BYTES, bytes=_same, string=str.encode),
    *_converted(
        "double", DOUBLE, double=_same, int=float, string=double_from_text, uint=float
    ),
    *_converted("duration", DURATION, duration=_same, int=no_duration, string=parse_span),
    *_converted(
        "int", INT, int=_same, double=int_from_double, duration=int,
        string=int_from_text, time=int_from_time,
        uint=lambda value: integer(int(value)),
    ),
    *_converted(
        "string", STRING, string=_same, bool=lambda value: "true" if value else "false",
        bytes=text_from_bytes, double=shortest,
        duration=text_from_duration, int=str, time=show_instant, uint=str,
    ),
    *_converted("timestamp", TIME, time=_same, int=time_from_int, string=parse_instant),
    *_converted(
        "uint", UINT, uint=_same, double=uint_from_double, int=unsigned,
        string=uint_from_text,
    ),
)  # fmt: skip
_TEXTS = tuple(
    Overload(
        name=name, takes=(STRING, STRING), gives=BOOL, does=does, inline=inline, is_method=True
    )
    for name, does, inline in (
        ("contains", lambda text, part: part in text, "({1} in {0})"),
        ("endsWith", str.endswith, "{0}.endswith({1})"),
        ("startsWith", str.startswith, "{0}.startswith({1})"),
    )
)
_SIZED = (STRING, BYTES, list_of(A), map_of(A, B), RESOURCES)
STANDARD = (
    *_CONVERSIONS,
    *_TEXTS,
    *methods(
        Overload(
            name="matches",
            takes=(STRING, STRING),
            gives=BOOL,
            does=_matches,
            check_last=_check_pattern,
        ),
        *(
            Overload(name="size", takes=(one,), gives=INT, does=len, inline="len({0})")
            for one in _SIZED[:4]
        ),
    ),
    Overload(name="size", takes=(RESOURCES,), gives=INT, does=len, inline="len({0})"),
    *(
        Overload(name=name, takes=takes, gives=INT, does=does, is_method=True)
        for name, does in PARTS.items()
        for takes in ((TIME,), (TIME, STRING))
    ),
    *(
        Overload(name=name, takes=(DURATION,), gives=INT, does=does, is_method=True)
        for name, does in AMOUNTS.items()
    ),
)
