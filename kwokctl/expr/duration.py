"""Go's durations and RFC 3339 times, as numbers of seconds.

The spellings are those of https://pkg.go.dev/time#ParseDuration and of RFC 3339, section 5.6.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

from kwokctl.errors import ExpressionError

_NANOS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"([-+]?)((?:{_PART.pattern})+|0)")
_LONGEST = 2**63
_SECOND = _NANOS["s"]

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d)(?:[.,](\d+))?(?:([Zz])|([-+])(\d\d):(\d\d))", re.ASCII
)


def parse_duration(text: str) -> float:
    """Return the seconds that a Go duration such as `1h2m3.5s` or `-300ms` lasts.

    Raises ExpressionError for a text that is not a duration, or is longer than Go's 292 years.
    """
    return parse_nanoseconds(text) / _SECOND


def parse_nanoseconds(text: str) -> int:
    """Return the nanoseconds that a Go duration lasts; errors as `parse_duration`."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ExpressionError(f"'{text}' is not a duration", hint="for example: 1h30m, 5s or 250ms")
    nanos = sum(int(Decimal(number) * _NANOS[unit]) for number, unit in _PART.findall(match[2]))
    if nanos >= _LONGEST:
        raise ExpressionError(f"the duration '{text}' is too long")
    return -nanos if match[1] == "-" else nanos


def format_duration(nanoseconds: int) -> str:
    """Return a number of nanoseconds as Go writes a duration: `1h0m3.5s`, `250ms`, `0s`."""
    sign, nanos = ("-", -nanoseconds) if nanoseconds < 0 else ("", nanoseconds)
    if nanos < _SECOND:
        unit = next((u for u in ("ms", "µs", "ns") if nanos >= _NANOS[u]), "s")
        return f"{sign}{_trimmed(nanos, _NANOS[unit])}{unit}"
    minutes, rest = divmod(nanos, _NANOS["m"])
    hours, minutes = divmod(minutes, 60)
    lead = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{sign}{lead}{_trimmed(rest, _SECOND)}s"


def format_seconds(seconds: int) -> str:
    """Return a number of whole seconds likewise: `1h0m3s`."""
    return format_duration(seconds * _SECOND)


def seconds_or_zero(text: str) -> float:
    """Return the seconds of a duration; 0 for a text that is not a duration: a user may have written it."""
    try:
        return parse_duration(text)
    except ExpressionError:
        return 0.0


def _trimmed(nanos: int, unit: int) -> str:
    text = f"{Decimal(nanos) / unit:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def parse_time(text: str) -> float:
    """Return an RFC 3339 time as a POSIX time stamp; raise ExpressionError for a text that is not a time."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise _no_time(text)
    base, fraction, utc, sign, hours, minutes = match.groups()
    try:
        moment = datetime.fromisoformat(base.upper())
        offset = timedelta(0) if utc else timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(-offset if sign == "-" else offset)
    except ValueError as e:
        raise _no_time(text) from e
    return moment.replace(tzinfo=zone).timestamp() + float(f"0.{fraction or 0}")


def format_time(seconds: float, *, nanos: bool = False) -> str:
    """Return a POSIX time stamp in RFC 3339, in UTC: `2026-01-02T03:04:05Z`.

    With `nanos` there are nine digits of fraction, else none. Raises ExpressionError outside the
    years 1 to 9999.
    """
    whole, fraction = divmod(round(seconds * 1e6), 1_000_000)
    try:
        moment = datetime.fromtimestamp(whole, UTC).replace(tzinfo=None)
    except (OverflowError, OSError, ValueError) as e:
        raise ExpressionError(f"'{seconds}' is a time outside the years 1 to 9999") from e
    tail = f".{fraction:06d}000Z" if nanos else "Z"
    return moment.isoformat() + tail


def _no_time(text: str) -> ExpressionError:
    return ExpressionError(f"'{text}' is not a time", hint="for example: 2026-01-02T03:04:05Z")
