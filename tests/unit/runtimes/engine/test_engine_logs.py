""""""

from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import pytest

from runtimes.engine.engine_client import Engine
from runtimes.engine.engine_logs import follow_log
from tests.support.fake_logs import FakeLogs

FIRST = [b"2026-01-01T00:00:01Z one\n", b"2026-01-01T00:00:02Z two\n"]


async def heard(engine: FakeLogs) -> list[bytes]:
    found: list[bytes] = []
    with suppress(OSError):
        async for line in follow_log(cast("Engine", engine), engine.find):
            found.append(line)  # noqa: PERF401 - what came before the error counts
    return found


@pytest.mark.parametrize(
    ("again", "lines"),
    [
        # The second in which it ended comes again, and continues.
        ([FIRST[1], b"2026-01-01T00:00:02Z two\n", b"2026-01-01T00:00:02Z three\n"], 4),
        # Another container in its place has none of that.
        ([b"2026-01-01T00:00:02Z other\n"], 3),
    ],
)
async def test_with_timestamps_in_whole_seconds_each_line_is_read_once(
    again: Sequence[bytes], lines: int
) -> None:
    engine = FakeLogs(FIRST, again)

    assert len(await heard(engine)) == lines
    assert engine.since == [None, 1767225602]


async def test_lines_of_one_second_are_all_shown() -> None:
    same = [b"2026-01-01T01:00:01.5+01:00 one\n"] * 3

    assert await heard(FakeLogs(same)) == [b"one\n"] * 3


async def test_fine_times_are_understood() -> None:
    engine = FakeLogs([b"2026-01-01T00:00:01.123456789Z one\n"], [])

    assert await heard(engine) == [b"one\n"]
    assert engine.since == [None, 1767225601]
