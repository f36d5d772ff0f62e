"""Points in time of a recording are distances from its beginning."""

import pytest

from kwokctl.clusters.object_files.time_offsets import absolute, relative

START = 1_609_459_200_000_000_000
"""2021-01-01T00:00:00Z"""


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        (b"2021-01-01T00:00:01Z", 1_000_000_000),
        (b"2021-01-01T00:00:01.1Z", 1_100_000_000),
        (b"2020-12-31T23:59:59.999999999Z", -1),
        (b"2021-01-01T02:00:00+02:00", 0),
        (b"2021-01-01T00:00:00.000000Z", 0),
    ],
)
def test_a_point_in_time_becomes_its_distance_in_nanoseconds(text: bytes, offset: int) -> None:
    assert relative(b"a " + text + b" z", START) == b"a $(time-offset-nanosecond %d) z" % offset


@pytest.mark.parametrize("text", [b"2021-13-01T00:00:00Z", b"2021-01-01 00:00:00", b"12345"])
def test_what_only_looks_like_a_time_stays(text: bytes) -> None:
    assert relative(text, START) == text


@pytest.mark.parametrize(
    ("offset", "text"),
    [
        (1_000_000_000, b"2021-01-01T00:00:01.000000Z"),
        (1_100_000_000, b"2021-01-01T00:00:01.100000Z"),
        (-1, b"2020-12-31T23:59:59.999999Z"),
    ],
)
def test_a_distance_becomes_a_point_in_time_with_microseconds(offset: int, text: bytes) -> None:
    assert absolute(b"at $(time-offset-nanosecond %d)" % offset, START) == b"at " + text


def test_a_text_comes_back_moved_to_the_new_beginning() -> None:
    kept = relative(b'{"t":"2021-01-01T00:00:05Z"}', START)
    assert absolute(kept, START + 10**9) == b'{"t":"2021-01-01T00:00:06.000000Z"}'
