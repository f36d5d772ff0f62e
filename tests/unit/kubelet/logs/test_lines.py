from typing import Any

import pytest

from kwokctl.kubelet.logs.log_lines import LogLine, LogWriter, parse_line, shown_time
from kwokctl.kubelet.logs.log_query import LogQuery

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


def test_the_format_of_docker_is_read() -> None:
    line = b'{"log":"one \\u00e9\\n","stream":"stderr","attrs":{"a":"b"},"time":"2026-01-01T00:00:01.5Z"}'
    part = b'{"log":"long","stream":"stdout","time":"2026-01-01T00:00:01Z"}'

    assert parse_line(line) == LogLine(b"2026-01-01T00:00:01.5Z", b"stderr", "one é".encode())
    assert parse_line(part) == LogLine(b"2026-01-01T00:00:01Z", b"stdout", b"long", is_part=True)


@pytest.mark.parametrize(
    "written",
    [
        b"{",
        b"{}",
        b"[]",
        b'{"log":"one","stream":"other","time":""}',
        b'{"log":1,"stream":"stdout","time":""}',
        b'{"log":"\xff","stream":"stdout","time":""}',
    ],
)
def test_what_only_begins_like_docker_s_is_no_line(written: bytes) -> None:
    assert parse_line(written) is None


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("2026-11-27T04:48:19,724920090+00:00", "2026-11-27T04:48:19.724920090Z"),
        ("2026-11-27T04:48:19Z", "2026-11-27T04:48:19.000000000Z"),
        ("2026-11-27t04:48:19.1234567891z", "2026-11-27T04:48:19.123456789Z"),
        ("2026-11-27T04:48:19.5+0200", "2026-11-27T04:48:19.500000000+02:00"),
        ("2026-11-27T04:48:19-07:30", "2026-11-27T04:48:19.000000000-07:30"),
        ("yesterday", "yesterday"),
    ],
)
def test_times_are_shown_as_kubelets_do(written: str, shown: str) -> None:
    assert shown_time(written.encode()).decode() == shown


def test_lines_are_shown_as_they_were_written() -> None:
    assert shown() == "one\ntwo\nthree\n\n"


def test_timestamps_come_before_whole_lines() -> None:
    assert shown(timestamps=True).splitlines() == [
        "2026-01-01T00:00:01.500000000Z one",
        "2026-01-01T00:00:02.000000000Z two",
        "2026-01-01T00:00:03.000000000Z three",
        "2026-01-01T00:00:05.000000000Z ",
    ]


def test_old_lines_and_another_stream_are_left_out() -> None:
    assert shown(since=1767225602.0) == "two\nthree\n\n"
    assert shown(stream="stderr") == "two\n"
    assert shown(since=1767225603.0, stream="stderr") == ""


def test_no_more_bytes_are_shown_than_asked_for() -> None:
    writer = LogWriter(LogQuery(limit=6))

    pieces = [(writer.write(lines), writer.is_full) for lines in (LINES[:1], LINES[1:], LINES)]

    assert pieces == [(b"one\n", False), (b"tw", True), (b"", True)]
