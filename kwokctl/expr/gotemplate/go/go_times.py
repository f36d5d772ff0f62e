"""Go's times, and how layouts show them: https://pkg.go.dev/time.

A layout shows how a certain moment of 2006 would look. A time zone that is not named is UTC, never the machine's.
"""

import re
from calendar import month_name
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from kwokctl.expr.duration import format_duration
from kwokctl.expr.gotemplate.template_error import TemplateError

_PIECES: dict[str, Callable[[datetime], str]] = {
    "2006": lambda t: f"{t.year:04d}",
    "06": lambda t: f"{t.year % 100:02d}",
    "January": lambda t: f"{t:%B}",
    "Jan": lambda t: f"{t:%b}",
    "01": lambda t: f"{t.month:02d}",
    "1": lambda t: f"{t.month}",
    "Monday": lambda t: f"{t:%A}",
    "Mon": lambda t: f"{t:%a}",
    "002": lambda t: f"{t:%j}",
    "02": lambda t: f"{t.day:02d}",
    "_2": lambda t: f"{t.day:2d}",
    "2": lambda t: f"{t.day}",
    "15": lambda t: f"{t.hour:02d}",
    "03": lambda t: f"{(t.hour + 11) % 12 + 1:02d}",
    "3": lambda t: f"{(t.hour + 11) % 12 + 1}",
    "04": lambda t: f"{t.minute:02d}",
    "4": lambda t: f"{t.minute}",
    "05": lambda t: f"{t.second:02d}",
    "5": lambda t: f"{t.second}",
    "PM": lambda t: "PM" if t.hour > 11 else "AM",
    "pm": lambda t: "pm" if t.hour > 11 else "am",
    "MST": lambda t: t.tzname() or "UTC",
    "Z07:00": lambda t: _offset(t, ":", utc="Z"),
    "Z0700": lambda t: _offset(t, "", utc="Z"),
    "-07:00": lambda t: _offset(t, ":"),
    "-0700": lambda t: _offset(t, ""),
    "-07": lambda t: _offset(t, "")[:3],
}
_DIRECTIVES = {
    "2006": "%Y",
    "06": "%y",
    "January": "%B",
    "Jan": "%b",
    "01": "%m",
    "1": "%m",
    "Monday": "%A",
    "Mon": "%a",
    "002": "%j",
    "02": "%d",
    "_2": "%d",
    "2": "%d",
    "15": "%H",
    "03": "%I",
    "3": "%I",
    "04": "%M",
    "4": "%M",
    "05": "%S",
    "5": "%S",
    "PM": "%p",
    "pm": "%p",
    "MST": "%Z",
    "Z07:00": "%z",
    "Z0700": "%z",
    "-07:00": "%z",
    "-0700": "%z",
    "-07": "%z",
}
_PIECE = re.compile(
    r"[.,](?:0+|9+)(?![0-9])|"
    + "|".join(sorted(map(re.escape, _PIECES), key=len, reverse=True)).replace(
        "Jan|", "Jan(?![a-z])|"
    )
)


def formatted(layout: str, moment: datetime) -> str:
    """Return a time as the layout shows it."""

    def write(match: re.Match[str]) -> str:
        piece = match[0]
        if piece[0] not in ".,":
            return _PIECES[piece](moment)
        digits = f"{moment.microsecond:06d}000"[: len(piece) - 1]
        digits = digits.rstrip("0") if piece[1] == "9" else digits
        return piece[0] + digits if digits else ""

    return _PIECE.sub(write, layout)


def parsed(layout: str, value: str) -> datetime:
    """Return the time that is written as the layout shows; raise ValueError if none is."""
    directives, at = "", 0
    for match in _PIECE.finditer(layout):
        piece = match[0]
        directives += layout[at : match.start()].replace("%", "%%")
        directives += _DIRECTIVES.get(piece, f"{piece[0]}%f")
        at = match.end()
    directives += layout[at:].replace("%", "%%")
    if "%Y" not in directives and "%y" not in directives:
        raise TemplateError(f"the layout '{layout}' has no year")
    moment = datetime.strptime(value, directives)
    return moment if moment.tzinfo else datetime.fromisoformat(f"{moment.isoformat()}+00:00")


def _offset(moment: datetime, separator: str, utc: str | None = None) -> str:
    offset = moment.utcoffset()
    minutes = int(offset.total_seconds() // 60) if offset else 0
    if not minutes and utc is not None:
        return utc
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}{separator}{rest:02d}"


_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


class Moment(datetime):
    """`time.Time`, to the microsecond."""

    go_type = ("time.Time", "struct")

    def __str__(self) -> str:
        """Return it as `2026-01-02 03:04:05.5 +0000 UTC`."""
        return formatted("2006-01-02 15:04:05.999999999 -0700 MST", self)

    def nanoseconds(self) -> int:
        """Return the nanoseconds since 1970."""
        since: timedelta = self - _EPOCH
        return since // timedelta(microseconds=1) * 1000

    def json(self) -> str:
        """Return it as JSON has it: RFC 3339."""
        return formatted("2006-01-02T15:04:05.999999999Z07:00", self)


_EPOCH = Moment(1970, 1, 1, tzinfo=UTC)


class Span(int):
    """`time.Duration`, in nanoseconds."""

    go_type = ("time.Duration", "int64")
    __slots__ = ()

    def __str__(self) -> str:
        """Return it as `1h0m5s`."""
        return format_duration(int(self))


class Month(int):
    """`time.Month`."""

    go_type = ("time.Month", "int")
    __slots__ = ()

    def __str__(self) -> str:
        return month_name[self] if 1 <= self <= 12 else f"%!Month({int(self)})"


class Weekday(int):
    """`time.Weekday`; Sunday is 0."""

    go_type = ("time.Weekday", "int")
    __slots__ = ()

    def __str__(self) -> str:
        return _DAYS[self] if 0 <= self <= 6 else f"%!Weekday({int(self)})"


class Location:
    """`*time.Location`."""

    go_type = ("*time.Location", "ptr")

    def __init__(self, zone: tzinfo) -> None:
        self.zone = zone

    def __str__(self) -> str:
        return str(self.zone)


STRINGERS = (Moment, Span, Month, Weekday, Location)
"""The types that are written as the text that their method `String` gives."""


def as_moment(value: datetime, zone: tzinfo | None = None) -> Moment:
    """Return a time that Python has calculated."""
    return Moment.fromisoformat(value.astimezone(zone or value.tzinfo or UTC).isoformat()).replace(
        tzinfo=zone or value.tzinfo or UTC
    )


def moved(value: Moment, nanoseconds: int) -> Moment:
    """Return the time that is so much later."""
    return as_moment(value + timedelta(microseconds=int(nanoseconds) // 1000))
