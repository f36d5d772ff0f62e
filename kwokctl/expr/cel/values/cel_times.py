"""Times and durations, to the nanosecond."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache

from kwokctl.errors import ExpressionError
from kwokctl.expr.cel.cel_errors import CelValueError
from kwokctl.expr.duration import parse_nanoseconds
from kwokctl.expr.zones import named_zone


class CelDuration(int):
    """A `google.protobuf.Duration`, in nanoseconds."""

    __slots__ = ()


class CelTime(int):
    """A `google.protobuf.Timestamp`, in nanoseconds since 1970."""

    offset: int = 0
    """The seconds that its zone is ahead of UTC: they count when it is shown."""


SECOND = 1_000_000_000
_LARGEST = 2**63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHAPE = re.compile(
    r"(\d{4}-\d\d-\d\dT)(\d{1,2})(:\d\d:\d\d)(?:[.,](\d+))?(?:Z|([-+])(\d\d):(\d\d))", re.ASCII
)


def _seconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(seconds=1)


ZERO = CelTime(_seconds(datetime(1, 1, 1, tzinfo=UTC)) * SECOND)
"""The time that Go has where there is none."""
_LAST = _seconds(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)) * SECOND + SECOND - 1


def instant(nanos: int, offset: int = 0) -> CelTime:
    """Return a time; raise CelValueError outside the years 1 to 9999."""
    if not ZERO <= nanos <= _LAST:
        raise CelValueError("the time is outside the years 1 to 9999")
    found = CelTime(nanos)
    if offset:
        found.offset = offset
    return found


def span(nanos: int) -> CelDuration:
    """Return a duration; raise CelValueError if it has more than 64 bits."""
    if not -_LARGEST <= nanos < _LARGEST:
        raise CelValueError("the duration is too long")
    return CelDuration(nanos)


@lru_cache(4096)
def parse_instant(text: str) -> CelTime:
    """Read an RFC 3339 time; raise CelValueError for a text that is not a time."""
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise CelValueError(f"'{text}' is not a time")
    day, hour, rest, fraction, sign, hours, minutes = match.groups()
    offset = (int(hours) * 60 + int(minutes)) * 60 * (-1 if sign == "-" else 1) if sign else 0
    try:
        moment = datetime.fromisoformat(f"{day}{hour:0>2}{rest}+00:00")
    except ValueError as e:
        raise CelValueError(f"'{text}' is not a time") from e
    nanos = int((fraction or "")[:9].ljust(9, "0"))
    return instant((_seconds(moment) - offset) * SECOND + nanos, offset)


@lru_cache(1024)
def parse_span(text: str) -> CelDuration:
    """Read a duration as Go does; raise CelValueError for a text that is not a duration."""
    try:
        return CelDuration(parse_nanoseconds(text))
    except ExpressionError as e:
        raise CelValueError(str(e)) from e


def show_instant(value: CelTime) -> str:
    """Write a time in RFC 3339, in its zone."""
    whole, nanos = divmod(int(value), SECOND)
    moment = (_EPOCH + timedelta(seconds=whole)).astimezone(_offset(value.offset))
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    written = moment.isoformat()
    zone = "Z" if not value.offset else written[19:]
    return f"{written[:19]}{fraction}{zone}"


def _offset(seconds: int) -> tzinfo:
    return timezone(timedelta(seconds=seconds)) if seconds else UTC


def _zone(name: str) -> tzinfo:
    """Return a time zone by its name, or by its distance from UTC such as `+02:30`."""
    hours, colon, minutes = name.partition(":")
    try:
        ahead = (
            int(hours) * 60 + (-int(minutes) if name[0] == "-" else int(minutes)) if colon else 0
        )
        found = timezone(timedelta(minutes=ahead)) if colon else named_zone(name)
    except ValueError:
        found = None
    if found is None:
        raise CelValueError(f"'{name}' is not a time zone")
    return found


def _part(read: Callable[[datetime], int]) -> Callable[..., int]:
    def function(value: CelTime, zone: str | None = None) -> int:
        moment = _EPOCH + timedelta(seconds=int(value) // SECOND)
        return read(moment if zone is None else moment.astimezone(_zone(zone)))

    return function


def _milliseconds(value: CelTime, zone: str | None = None) -> int:
    if zone is not None:
        _zone(zone)
    return int(value) % SECOND // 1_000_000


PARTS: dict[str, Callable[..., int]] = {
    "getFullYear": _part(lambda moment: moment.year),
    "getMonth": _part(lambda moment: moment.month - 1),
    "getDate": _part(lambda moment: moment.day),
    "getDayOfMonth": _part(lambda moment: moment.day - 1),
    "getDayOfWeek": _part(lambda moment: moment.isoweekday() % 7),
    "getDayOfYear": _part(lambda moment: moment.timetuple().tm_yday - 1),
    "getHours": _part(lambda moment: moment.hour),
    "getMinutes": _part(lambda moment: moment.minute),
    "getSeconds": _part(lambda moment: moment.second),
    "getMilliseconds": _milliseconds,
}
"""The methods of times, each with or without a time zone."""


def _amount(unit: int) -> Callable[[CelDuration], int]:
    def function(value: CelDuration) -> int:
        size = abs(int(value)) // unit
        return size if value >= 0 else -size

    return function


AMOUNTS: dict[str, Callable[[CelDuration], int]] = {
    "getHours": _amount(3600 * SECOND),
    "getMinutes": _amount(60 * SECOND),
    "getSeconds": _amount(SECOND),
    "getMilliseconds": _amount(1_000_000),
}
"""The methods of durations: how many whole units there are in one."""
