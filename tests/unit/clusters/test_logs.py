import time
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kwokctl.clusters.logs import LineRange, component_logs, time_of
from kwokctl.clusters.state.home import cluster_name
from kwokctl.model import ETCD, ClusterName, ComponentName
from tests.support.fake_runtime import FakeRuntime
from tests.support.options import cluster_options
from tests.support.saved_cluster import home_with

NAME = cluster_name("dev")
NOW = datetime(2026, 11, 22, 8, 0, tzinfo=UTC)
BEFORE = datetime(2026, 11, 22, 7, 8, 26, 49413, tzinfo=UTC)
LATEST = NOW + timedelta(days=1)


@pytest.fixture
def far_from_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let this machine be in a zone five hours behind."""
    monkeypatch.setenv("TZ", "XXX+5")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "line",
    [
        b"I1122 07:08:26.049413   13932 handler.go:459] Starting",
        b'{"level":"info","ts":"2026-11-22T07:08:26.049413Z","msg":"notifying"}',
        b'{"level":"info","ts":"2026-11-22T08:08:26.049413+0100","msg":"notifying"}',
        b'{"ts":1795331306049.413,"caller":"x.go:1"}',
        b'{"ts":1795331306.049413,"caller":"x.go:1"}',
        b'{"kind":"Event","auditID":"a","stageTimestamp":"2026-11-22T07:08:26.049413Z"}',
        b'{"time": "2026-11-22T07:08:26.049413+00:00", "level": "INFO"}',
        b"2026-11-22T07:08:26.049413Z plain",
    ],
)
def test_each_way_to_write_the_time_is_read(line: bytes) -> None:
    found = time_of(line, UTC, LATEST)
    assert found is not None
    assert abs(found - BEFORE) < timedelta(milliseconds=1)


def test_the_line_that_says_when_a_program_was_started_has_a_time() -> None:
    line = b"=== 2026-11-22T07:08:26Z started by kwokctl ===\n"
    assert time_of(line, UTC, LATEST) == BEFORE.replace(microsecond=0)


@pytest.mark.parametrize(
    "line", [b"goroutine 1 [running]:", b"", b"I1399 99:99:99.000000 x", b'{"ts":"soon"}', b"{}"]
)
def test_what_has_no_time_is_no_error(line: bytes) -> None:
    assert time_of(line, UTC, LATEST) is None


@pytest.mark.usefixtures("far_from_utc")
def test_klog_writes_the_time_of_its_zone() -> None:
    line = b"I1122 02:08:26.049413   13932 handler.go:459] Starting"
    assert time_of(line, None, LATEST) == BEFORE
    assert time_of(line, UTC, LATEST) == BEFORE - timedelta(hours=5)


def test_klog_writes_no_year_and_nothing_is_written_in_the_future() -> None:
    new_year = datetime(2027, 1, 1, 0, 5, tzinfo=UTC)
    found = time_of(b"I1231 23:59:00.000000 1 x", UTC, new_year + timedelta(days=1))
    assert found == datetime(2026, 12, 31, 23, 59, tzinfo=UTC)


def stamped(minutes_ago: float, text: str) -> bytes:
    time = datetime.now(UTC) - timedelta(minutes=minutes_ago)
    return f"I{time:%m%d %H:%M:%S.%f} 1 {text}\n".encode()


LINES = [
    b"before any time\n",
    stamped(60, "old"),
    b"  more of old\n",
    stamped(2, "young"),
    b"  more of young\n",
    b"last",
]


def texts(lines: list[bytes], wanted: LineRange) -> list[str]:
    return [line.decode().split(" 1 ")[-1].strip() for line in wanted.of(lines, UTC)]


def ago(minutes: float) -> datetime:
    return datetime.now(UTC) - timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (LineRange(since=ago(5)), ["young", "more of young", "last"]),
        (LineRange(since=ago(90)), ["before any time", "old", "more of old", "young", "more of young", "last"]),
        (LineRange(since=ago(1)), []),
        (LineRange(tail=2), ["more of young", "last"]),
        (LineRange(tail=0), []),
        (LineRange(tail=1, since=ago(5)), ["last"]),
        (LineRange(tail=99), ["before any time", "old", "more of old", "young", "more of young", "last"]),
    ],
)  # fmt: skip
def test_lines_are_chosen_from_the_end_and_by_age(wanted: LineRange, shown: list[str]) -> None:
    assert texts(LINES, wanted) == shown


def test_a_log_without_any_time_is_shown_whole() -> None:
    assert texts([b"a\n", b"b\n"], LineRange(since=ago(5))) == ["a", "b"]


class Writing(FakeRuntime):
    """Has written a log, and writes more while it is followed."""

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        content = b"".join(LINES)
        yield content[:50]
        yield content[50:]
        if follow:
            yield b" and its end\n"
            yield b"new\n"


@pytest.mark.parametrize(
    ("follow", "written"),
    [(False, b"  more of young\nlast"), (True, b"  more of young\nlast and its end\nnew\n")],
)
async def test_following_continues_behind_the_selected_lines(
    tmp_path: Path, follow: bool, written: bytes
) -> None:
    home = home_with(tmp_path, NAME, cluster_options(runtime="fake"), Writing())

    parts = component_logs(home, NAME, ETCD, follow=follow, wanted=LineRange(tail=2))

    assert b"".join([part async for part in parts]) == written


class Cut(FakeRuntime):
    """Has lost the oldest part of its log when it is asked again."""

    async def logs(
        self, cluster: ClusterName, name: ComponentName, *, follow: bool = False
    ) -> AsyncIterator[bytes]:
        if not follow:
            yield b"oldest\n"
        yield b"old\n"
        if follow:
            yield b""
            yield b"new\n"


async def test_what_is_new_is_followed_though_the_log_was_cut_meanwhile(tmp_path: Path) -> None:
    home = home_with(tmp_path, NAME, cluster_options(runtime="fake"), Cut())

    parts = component_logs(home, NAME, ETCD, follow=True, wanted=LineRange(tail=1))

    assert b"".join([part async for part in parts]) == b"old\nnew\n"
