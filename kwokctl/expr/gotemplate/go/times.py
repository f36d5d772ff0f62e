"""Go's times: https://pkg.go.dev/time. A time zone that is not named is UTC, never the machine's."""

from calendar import month_name
from datetime import UTC, datetime, timedelta, tzinfo

from kwokctl.expr.duration import format_duration
from kwokctl.expr.gotemplate.go.layouts import formatted

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
