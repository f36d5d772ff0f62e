"""The methods that a template can call: those of times, versions, and the numbers of an object.

https://pkg.go.dev/time#Time, https://pkg.go.dev/time#Duration, https://pkg.go.dev/encoding/json#Number,
https://pkg.go.dev/github.com/Masterminds/semver/v3#Version.
Left out are those that give bytes, or more than a value and an error.
"""

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC

from kwokctl.expr.gotemplate.go.go_times import (
    Location,
    Moment,
    Month,
    Span,
    Weekday,
    as_moment,
    formatted,
    moved,
)
from kwokctl.expr.gotemplate.go.go_types import Int64, Number, Real, UntypedConstant
from kwokctl.expr.gotemplate.go.semantic_version import SemanticVersion

Method = Callable[..., object]

_SECOND = 1_000_000_000
_NEVER = Moment(1, 1, 1, tzinfo=UTC)


def _text(value: object) -> str:
    if type(value) is not str:
        raise TypeError("it needs a string")
    return value


def _whole(value: object) -> int:
    if isinstance(value, UntypedConstant) and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise TypeError("it needs a whole number")
    return value


def _span(value: object) -> int:
    return value if isinstance(value, Span) else _whole(value)


def _time(value: object) -> Moment:
    if not isinstance(value, Moment):
        raise TypeError("it needs a time")
    return value


def _later(time: Moment, years: object, months: object, days: object) -> Moment:
    """Return `AddDate`: the 31st of a month with 30 days is the first of the next one."""
    count = time.month - 1 + _whole(months)
    year, month = time.year + _whole(years) + count // 12, count % 12 + 1
    last = monthrange(year, month)[1]
    over = max(time.day - last, 0)
    moved_to = time.replace(year=year, month=month, day=min(time.day, last))
    return moved(moved_to, (over + _whole(days)) * 86_400 * _SECOND)


def _rounded(time: Moment, span: object, *, up: bool) -> Moment:
    size = _span(span)
    if size <= 0:
        return time
    since = (time - _NEVER).days * 86_400 * _SECOND + (
        (time - _NEVER).seconds * _SECOND + (time - _NEVER).microseconds * 1000
    )
    rest = since % size
    return moved(time, size - rest if up and rest + rest >= size else -rest)


def _rounded_span(span: Span, to: object, *, up: bool) -> Span:
    size = _span(to)
    if size <= 0:
        return span
    rest = abs(span) % size
    whole = abs(span) - rest + (size if up and rest + rest >= size else 0)
    return Span(-whole if span < 0 else whole)


def _zone(value: object) -> Location:
    if not isinstance(value, Location):
        raise TypeError("it needs a time zone, such as the result of '.Location'")
    return value


_TIME: dict[str, Method] = {
    "Add": lambda t, span: moved(t, _span(span)),
    "AddDate": _later,
    "After": lambda t, other: t > _time(other),
    "Before": lambda t, other: t < _time(other),
    "Compare": lambda t, other: (t > _time(other)) - (t < _time(other)),
    "Day": lambda t: t.day,
    "Equal": lambda t, other: t == _time(other),
    "Format": lambda t, layout: formatted(_text(layout), t),
    "Hour": lambda t: t.hour,
    "In": lambda t, zone: as_moment(t, _zone(zone).zone),
    "IsDST": lambda t: bool(t.dst()),
    "IsZero": lambda t: t == _NEVER,
    "Local": lambda t: as_moment(t, UTC),
    "Location": lambda t: Location(t.tzinfo),
    "Minute": lambda t: t.minute,
    "Month": lambda t: Month(t.month),
    "Nanosecond": lambda t: t.microsecond * 1000,
    "Round": lambda t, span: _rounded(t, span, up=True),
    "Second": lambda t: t.second,
    "String": str,
    "Sub": lambda t, other: Span(t.nanoseconds() - _time(other).nanoseconds()),
    "Truncate": lambda t, span: _rounded(t, span, up=False),
    "UTC": lambda t: as_moment(t, UTC),
    "Unix": lambda t: Int64(t.nanoseconds() // _SECOND),
    "UnixMicro": lambda t: Int64(t.nanoseconds() // 1000),
    "UnixMilli": lambda t: Int64(t.nanoseconds() // 1_000_000),
    "UnixNano": lambda t: Int64(t.nanoseconds()),
    "Weekday": lambda t: Weekday(t.isoweekday() % 7),
    "Year": lambda t: t.year,
    "YearDay": lambda t: t.timetuple().tm_yday,
}
_SPAN: dict[str, Method] = {
    "Abs": lambda d: Span(abs(d)),
    "Hours": lambda d: Real(d / (3600 * _SECOND)),
    "Microseconds": lambda d: Int64(int(d / 1000)),
    "Milliseconds": lambda d: Int64(int(d / 1_000_000)),
    "Minutes": lambda d: Real(d / (60 * _SECOND)),
    "Nanoseconds": Int64,
    "Round": lambda d, to: _rounded_span(d, to, up=True),
    "Seconds": lambda d: Real(d / _SECOND),
    "String": str,
    "Truncate": lambda d, to: _rounded_span(d, to, up=False),
}


def _other(value: object) -> SemanticVersion:
    if not isinstance(value, SemanticVersion):
        raise TypeError("it needs a version, such as the result of 'semver'")
    return value


_VERSION: dict[str, Method] = {
    "Compare": lambda v, other: (v > _other(other)) - (v < _other(other)),
    "Equal": lambda v, other: v == _other(other),
    "GreaterThan": lambda v, other: v > _other(other),
    "GreaterThanEqual": lambda v, other: v >= _other(other),
    "IncMajor": lambda v: v.next("major"),
    "IncMinor": lambda v: v.next("minor"),
    "IncPatch": lambda v: v.next("patch"),
    "LessThan": lambda v, other: v < _other(other),
    "LessThanEqual": lambda v, other: v <= _other(other),
    "Major": lambda v: Int64(v.major),
    "Metadata": lambda v: v.metadata,
    "Minor": lambda v: Int64(v.minor),
    "Original": lambda v: v.original,
    "Patch": lambda v: Int64(v.patch),
    "Prerelease": lambda v: v.prerelease,
    "String": str,
}

METHODS: tuple[tuple[type, dict[str, Method]], ...] = (
    (Moment, _TIME),
    (Span, _SPAN),
    (
        Number,
        {
            "Float64": Real,
            "Int64": Int64,
            "String": str,
        },
    ),
    (Month, {"String": str}),
    (Weekday, {"String": str}),
    (Location, {"String": str}),
    (SemanticVersion, _VERSION),
)
"""The methods by type."""
