"""The functions that every environment of CEL has:
https://github.com/google/cel-spec/blob/master/doc/langdef.md#standard-definitions.
"""

from collections.abc import Callable

from kwokctl.expr.cel.fault import CelValueError
from kwokctl.expr.cel.functions.overload import Overload, methods
from kwokctl.expr.cel.kinds.cel_type import (
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
from kwokctl.expr.cel.values import conversions
from kwokctl.expr.cel.values.arithmetic import integer, unsigned
from kwokctl.expr.cel.values.times import (
    AMOUNTS,
    PARTS,
    parse_instant,
    parse_span,
    show_instant,
)
from kwokctl.expr.gotemplate.go.numerals import shortest
from kwokctl.expr.regexp import RegexpError, compile_regexp
from kwokctl.json_value import Json


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
    *_converted("bool", BOOL, bool=_same, string=conversions.bool_from_text),
    *_converted("bytes", BYTES, bytes=_same, string=str.encode),
    *_converted(
        "double", DOUBLE, double=_same, int=float, string=conversions.double_from_text, uint=float
    ),
    *_converted("duration", DURATION, duration=_same, int=conversions.no_duration, string=parse_span),
    *_converted(
        "int", INT, int=_same, double=conversions.int_from_double, duration=int,
        string=conversions.int_from_text, time=conversions.int_from_time,
        uint=lambda value: integer(int(value)),
    ),
    *_converted(
        "string", STRING, string=_same, bool=lambda value: "true" if value else "false",
        bytes=conversions.text_from_bytes, double=shortest,
        duration=conversions.text_from_duration, int=str, time=show_instant, uint=str,
    ),
    *_converted("timestamp", TIME, time=_same, int=conversions.time_from_int, string=parse_instant),
    *_converted(
        "uint", UINT, uint=_same, double=conversions.uint_from_double, int=unsigned,
        string=conversions.uint_from_text,
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
