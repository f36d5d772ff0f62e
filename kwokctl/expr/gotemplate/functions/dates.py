"""Sprig's functions for times. A time zone that is not named is UTC, never the machine's.

The caller gives the current time: `now` and `ago` call its function `Now`. Sprig takes
the time it is now for whatever is no time, such as a text; here that is an error.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_duration, parse_nanoseconds, parse_time
from kwokctl.expr.gotemplate.functions.arguments import text
from kwokctl.expr.gotemplate.go.go_times import Moment, as_moment, formatted, moved, parsed
from kwokctl.expr.gotemplate.go.go_types import Int64
from kwokctl.expr.gotemplate.go.go_values import kind
from kwokctl.expr.gotemplate.template_error import TemplateError
from kwokctl.expr.zones import named_zone

_UNITS = (
    ("y", 31_536_000),
    ("mo", 2_592_000),
    ("d", 86_400),
    ("h", 3_600),
    ("m", 60),
    ("s", 1),
)


_SECOND = 1_000_000_000
_NEVER = Moment(1, 1, 1, tzinfo=UTC)


def current(value: str | float) -> Moment:
    """Return the time that the caller's `Now` gives: seconds since 1970, or a RFC 3339 text."""
    seconds = parse_time(value) if isinstance(value, str) else float(value)
    return Moment.fromtimestamp(round(seconds, 6), UTC)


def _moment(value: object) -> Moment:
    """Return the time of a value: a time, or an integer of seconds since 1970."""
    if isinstance(value, Moment):
        return value
    if type(value) is int or type(value) is Int64:
        try:
            return Moment.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError) as e:
            raise TemplateError(f"{kind(value)} is a time outside the years 1 to 9999") from e
    raise TemplateError(
        f"{kind(value)} is not a time: Sprig would take the time now; use 'toDate' for a string"
    )


def _strictly(value: object) -> Moment:
    if isinstance(value, Moment):
        return value
    raise TemplateError(f"{kind(value)} is not a time: use 'toDate' for a string")


def _zone(name: object) -> tzinfo:
    return (None if name == "Local" else named_zone(text(name))) or UTC


def _date_in(layout: object, value: object, zone: object) -> str:
    return formatted(text(layout), as_moment(_moment(value), _zone(zone)))


def _date(layout: object, value: object) -> str:
    return _date_in(layout, value, "UTC")


def _moved(by: object, value: object) -> Moment:
    try:
        return moved(_strictly(value), parse_nanoseconds(text(by)))
    except ExpressionError:
        return _strictly(value)


def _must_moved(by: object, value: object) -> Moment:
    return moved(_strictly(value), parse_nanoseconds(text(by)))


def _nanoseconds(value: object) -> int:
    if isinstance(value, datetime):
        raise TemplateError("'durationRound' of a time depends on the current time: subtract first")
    if isinstance(value, Int64):
        return value
    try:
        return parse_nanoseconds(value) if type(value) is str else 0
    except ExpressionError:
        return 0


def _rounded(value: object) -> str:
    """Return a duration in its largest unit: `2h`, `3d`."""
    nanoseconds = abs(_nanoseconds(value))
    for unit, size in _UNITS:
        if nanoseconds > size * _SECOND:
            return f"{nanoseconds // (size * _SECOND)}{unit}"
    return "0s"


def ago(now: str | float, value: object) -> str:
    """Return how long before `now` a time was, in whole seconds."""
    since = current(now).nanoseconds() - _moment(value).nanoseconds()
    half = _SECOND // 2 if since >= 0 else -_SECOND // 2
    return format_duration(int((since + half) / _SECOND) * _SECOND)


def _to_date(layout: object, value: object) -> Moment:
    try:
        return as_moment(parsed(text(layout), text(value)))
    except ValueError:
        return _NEVER


def _must_to_date(layout: object, value: object) -> Moment:
    try:
        return as_moment(parsed(text(layout), text(value)))
    except ValueError as e:
        raise TemplateError(f"'{value}' does not look like '{layout}'") from e


def _duration(seconds: object) -> str:
    """Return a duration of seconds, which are a text or an `int64`: anything else gives `0s`."""
    number = 0
    if isinstance(seconds, Int64) or (type(seconds) is str and _IS_WHOLE(seconds)):
        number = int(seconds)
    nanoseconds = number * _SECOND
    return format_duration((nanoseconds + 2**63) % 2**64 - 2**63)


_IS_WHOLE = re.compile(r"[-+]?[0-9]+\Z").match

DATES: dict[str, Callable[..., object]] = {
    "date": _date,
    "dateInZone": _date_in,
    "dateModify": _moved,
    "date_in_zone": _date_in,
    "date_modify": _moved,
    "duration": _duration,
    "durationRound": _rounded,
    "htmlDate": lambda value: _date("2006-01-02", value),
    "htmlDateInZone": lambda value, zone: _date_in("2006-01-02", value, zone),
    "mustDateModify": _must_moved,
    "mustToDate": _must_to_date,
    "must_date_modify": _must_moved,
    "toDate": _to_date,
    "unixEpoch": lambda value: str(_strictly(value).nanoseconds() // _SECOND),
}
