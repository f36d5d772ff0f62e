from typing import Any

from kwokctl.kubelet.logs.lines import LogLine, LogWriter, parse_line
from kwokctl.kubelet.logs.query import LogQuery

WRITTEN = (
    b"2026-01-01T00:00:01.5Z stdout F one",
    b"2026-01-01T00:00:02Z stderr F two",
    b"2026-01-01T00:00:03+00:00 stdout P thr",
    b"2026-01-01T00:00:04Z stdout F:tag ee",
    b"2026-01-01T00:00:05Z stdout F",
)
LINES = [line for each in WRITTEN if (line := parse_line(each))]


def shown(**query: Any) -> str:
    writer = LogWriter(LogQuery(**query))
    # One at a time: what is cut between two calls must not matter.
    return b"".join(writer.write([line]) for line in LINES).decode()


def test_the_format_of_container_runtimes_is_read() -> None:
    assert LINES[0] == LogLine(b"2026-01-01T00:00:01.5Z", b"stdout", b"one")
    assert LINES[2].is_part
    assert LINES[4].content == b""
    assert parse_line(b"") is None
    assert parse_line(b"just some text that is no log") is None


def test_lines_are_shown_as_they_were_written() -> None:
    assert shown() == "one\ntwo\nthree\n\n"


def test_timestamps_come_before_whole_lines() -> None:
    assert shown(timestamps=True).splitlines() == [
        "2026-01-01T00:00:01.5Z one",
        "2026-01-01T00:00:02Z two",
        "2026-01-01T00:00:03+00:00 three",
        "2026-01-01T00:00:05Z ",
    ]


def test_old_lines_and_another_stream_are_left_out() -> None:
    assert shown(since=1767225602.0) == "two\nthree\n\n"
    assert shown(stream="stderr") == "two\n"
    assert shown(since=1767225603.0, stream="stderr") == ""


def test_no_more_bytes_are_shown_than_asked_for() -> None:
    writer = LogWriter(LogQuery(limit=6))

    pieces = [(writer.write(lines), writer.is_full) for lines in (LINES[:1], LINES[1:], LINES)]

    assert pieces == [(b"one\n", False), (b"tw", True), (b"", True)]
