"""Sprig's functions for times. A time zone that is not named is UTC, never the machine's.

What the time is now is for the caller to say: `now` and `ago` ask its function `Now`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import format_duration, parse_nanoseconds, parse_time
from kwokctl.expr.gotemplate.functions.arguments import text, whole
from kwokctl.expr.gotemplate.functions.layouts import formatted, parsed
from kwokctl.expr.gotemplate.values import Fault, kind

_UNITS = (
    ("y", 31_536_000),
    ("mo", 2_592_000),
    ("d", 86_400),
    ("h", 3_600),
    ("m", 60),
    ("s", 1),
)


class Moment(datetime):
    """A time, written as Go writes one."""

    def __str__(self) -> str:
        """Return it as `2026-01-02 03:04:05.5 +0000 UTC`."""
        return formatted("2006-01-02 15:04:05.999999999 -0700 MST", self)


def moment(value: Any, zone: tzinfo = UTC) -> Moment:
    """Return the time that a value stands for: a time, seconds since 1970 or a RFC 3339 text."""
    if isinstance(value, datetime):
        seconds = value.timestamp()
    elif isinstance(value, str):
        seconds = parse_time(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value
    else:
        raise Fault(f"{kind(value)} is not a time")
    try:
        return Moment.fromtimestamp(seconds, zone)
    except (OverflowError, OSError, ValueError) as e:
        raise Fault(f"{kind(value)} is a time outside the years 1 to 9999") from e


def _zone(name: Any) -> tzinfo:
    if text(name) in {"", "UTC", "Local"}:
        return UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - hardly any template names a time zone

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def _date(layout: Any, value: Any, zone: Any = "UTC") -> str:
    return formatted(text(layout), moment(value, _zone(zone)))


def _moved(by: Any, value: Any) -> Moment:
    try:
        return moment(moment(value) + timedelta(microseconds=parse_nanoseconds(text(by)) // 1000))
    except ExpressionError:
        return moment(value)


def _must_moved(by: Any, value: Any) -> Moment:
    return moment(moment(value) + timedelta(microseconds=parse_nanoseconds(text(by)) // 1000))


def _nanoseconds(value: Any) -> int:
    if isinstance(value, datetime):
        raise Fault("'durationRound' of a time needs the time it is now: subtract first")
    try:
        return parse_nanoseconds(value) if isinstance(value, str) else whole(value)
    except ExpressionError:
        return 0


def _rounded(value: Any) -> str:
    """Return a duration in its largest unit: `2h`, `3d`."""
    seconds = abs(_nanoseconds(value)) // 1_000_000_000
    return next((f"{seconds // size}{unit}" for unit, size in _UNITS if seconds > size), "0s")


def ago(now: Any, value: Any) -> str:
    """Return how long before `now` a time was, in whole seconds."""
    seconds = round(moment(now).timestamp() - moment(value).timestamp())
    return format_duration(seconds * 1_000_000_000)


def _to_date(layout: Any, value: Any) -> Moment:
    try:
        return moment(parsed(text(layout), text(value)))
    except ValueError as e:
        raise Fault(f"'{value}' does not look like '{layout}'") from e


def _duration(seconds: Any) -> str:
    number = whole(seconds) if not isinstance(seconds, str) or _IS_WHOLE(seconds) else 0
    return format_duration(number * 1_000_000_000)


_IS_WHOLE = re.compile(r"-?[0-9]+\Z").match

DATES: dict[str, Callable[..., Any]] = {
    "date": _date,
    "dateInZone": _date,
    "dateModify": _moved,
    "date_in_zone": _date,
    "date_modify": _moved,
    "duration": _duration,
    "durationRound": _rounded,
    "htmlDate": lambda value: _date("2006-01-02", value),
    "htmlDateInZone": lambda value, zone: _date("2006-01-02", value, zone),
    "mustDateModify": _must_moved,
    "mustToDate": _to_date,
    "must_date_modify": _must_moved,
    "toDate": _to_date,
    "unixEpoch": lambda value: str(int(moment(value).timestamp() // 1)),
}
