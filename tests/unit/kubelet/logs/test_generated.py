import math

import pytest

from kwokctl.kubelet.logs.generated import GeneratedLog, GeneratedSource, Period
from kwokctl.kubelet.logs.log_documents import GeneratedLines
from kwokctl.kubelet.logs.log_query import LogQuery
from tests.support.kubelet_rig import pod


def log(
    template: str = "{{ .line }}", *, begin: float = 1000.0, end: float = math.inf, **more: float
) -> GeneratedLog:
    entry = GeneratedLines(template=template, **more)  # type: ignore[arg-type]  # numbers of either kind
    return GeneratedLog(entry, pod(), "c", 2, Period(begin, end))


def test_a_line_follows_from_its_number_alone() -> None:
    made = log(
        "{{ .time }} {{ .namespace }}/{{ .pod }}@{{ .node }} {{ .container }} {{ .restarts }} "
        "{{ .line }}\nx",
        lines_per_second=4.0,
    )

    line = made.line(5)
    assert line.time == b"1970-01-01T00:16:41.250000000Z"
    assert line.stream == b"stdout"
    assert line.content == b"1970-01-01T00:16:41.250000000Z default/app@n c 2 5 x"
    assert made.line(5) == line


@pytest.mark.parametrize(
    ("now", "written"), [(999.0, 0), (1000.0, 1), (1000.4, 1), (1000.5, 2), (1010.0, 21)]
)
def test_lines_are_written_from_the_start_at_their_rate(now: float, written: int) -> None:
    assert log(lines_per_second=2.0).written(now) == written


def test_a_container_that_has_ended_writes_no_more() -> None:
    made = log(end=1002.5)

    assert made.written(5000.0) == 3
    assert made.due(2) == 1002.0
    assert made.due(3) == math.inf


def test_only_so_many_lines_are_kept() -> None:
    made = log(kept_lines=10)

    assert made.first(1004.0, tail=None, since=0.0) == 0
    assert made.first(1099.0, tail=None, since=0.0) == 90
    assert made.first(1099.0, tail=50, since=0.0) == 90


def test_the_end_and_the_younger_lines_are_found_without_the_others() -> None:
    made = log(lines_per_second=2.0)

    assert made.first(1010.0, tail=3, since=0.0) == 18
    assert made.first(1010.0, tail=0, since=0.0) == 21
    assert made.first(1010.0, tail=None, since=1009.9) == 20
    assert made.first(1010.0, tail=None, since=1010.0) == 20
    assert made.first(1010.0, tail=2, since=1000.1) == 19
    assert made.first(1010.0, tail=None, since=5000.0) == 21


async def test_as_many_lines_are_read_as_wanted_though_one_is_written_meanwhile() -> None:
    clock = iter(1010.0 + 0.5 * each for each in range(10))
    source = GeneratedSource(log(lines_per_second=2.0), lambda: next(clock))

    read = [line async for part in source.lines(LogQuery(tail=2), _never) for line in part]

    assert [line.content for line in read] == [b"19", b"20"]


async def _never() -> bool:
    return False
