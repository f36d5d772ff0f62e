import pytest

from kwokctl.errors import ExpressionError
from kwokctl.expr.duration import (
    format_duration,
    format_time,
    parse_duration,
    parse_nanoseconds,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "seconds", "written"),
    [
        ("1h2m3.5s", 3723.5, "1h2m3.5s"),
        ("-300ms", -0.3, "-300ms"),
        ("0", 0, "0s"),
        ("+5s", 5, "5s"),
        ("1.5h", 5400, "1h30m0s"),
        (".5s", 0.5, "500ms"),
        ("1.s", 1, "1s"),
        ("1us", 1e-6, "1µs"),
        ("1µs500ns", 1.5e-6, "1.5µs"),
        ("90m", 5400, "1h30m0s"),
        ("2562047h47m16.854775807s", 2562047 * 3600 + 47 * 60 + 16.854775807, None),
    ],
)
def test_durations_are_read_and_written_as_in_go(
    text: str, seconds: float, written: str | None
) -> None:
    assert parse_duration(text) == pytest.approx(seconds)
    assert format_duration(parse_nanoseconds(text)) == (written or text)


@pytest.mark.parametrize(
    "text", ["", "5", "s", "1d", "1.s.", "-", "1h-5m", " 1s", "1 s", "3000000h", "2026-01-01"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match=r"duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-01-02T03:04:05Z", 1767323045),
        ("2026-01-02t03:04:05z", 1767323045),
        ("2026-01-02T04:34:05.25+01:30", 1767323045.25),
        ("2026-01-01T22:04:05.000000001-05:00", 1767323045),
    ],
)
def test_times_are_read_with_their_zone(text: str, seconds: float) -> None:
    assert parse_time(text) == pytest.approx(seconds, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    ["", "5s", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z", "2026-01-02T03:04:05+99:00"],
)  # fmt: skip
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ExpressionError, match="is not a time"):
        parse_time(text)


def test_times_are_written_in_utc() -> None:
    assert format_time(1767323045.25) == "2026-01-02T03:04:05Z"
    assert format_time(1767323045.25, nanos=True) == "2026-01-02T03:04:05.250000000Z"
    with pytest.raises(ExpressionError, match="outside the years"):
        format_time(1e15)
