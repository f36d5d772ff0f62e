"""The verdict, and when a run is over."""

import asyncio

import pytest

from kwokctl.kube.collections.metrics_text import MetricValue
from kwokctl.measure.figures.figure_catalogue import FIGURES, whole_run
from kwokctl.measure.histories.history import RUN_LABEL, History
from kwokctl.measure.judging.assertions import AssertionReader, judge
from kwokctl.measure.judging.verdict import (
    COMMAND,
    INTERRUPTED,
    UNDRAINED,
    MeasuredVerdict,
    verdict,
)
from kwokctl.measure.record.record_lines import (
    Behind,
    Gap,
    JobChange,
    Lines,
    PodChange,
    PodGone,
    PodShape,
    RecordText,
    RunMoment,
    RunScope,
)
from kwokctl.measure.running import ending
from kwokctl.measure.running.workloads import Workloads
from tests.support.bulk import NOWHERE
from tests.support.measured import (
    BEGIN,
    MS,
    SECOND,
    done,
    ended,
    header,
    history,
    job,
    life,
    running,
    seen,
)
from tests.support.sampled_plane import Sampled

NO_WORKLOADS = Workloads(NOWHERE, "run")


def judged(found: History, *, allow_undrained: bool = False) -> MeasuredVerdict:
    return verdict(found, [], allow_undrained=allow_undrained)


def test_a_run_without_faults_passes() -> None:
    assert judged(history(life(1, 0, 1, 2))) == MeasuredVerdict(
        passed=True, valid=True, drained=True, problems=(), remarks=()
    )


def test_a_recorder_that_was_more_than_a_second_behind_makes_a_run_invalid() -> None:
    late = judged(history([Behind(0, SECOND + 100 * MS)]))
    in_time = judged(history([Behind(0, SECOND)]))

    assert (late.valid, late.passed) == (False, False)
    assert late.problems[0].startswith("invalid: the recorder was 1.1 s behind")
    assert in_time.passed


def test_a_record_without_its_end_is_invalid() -> None:
    found = History.of(header(), [BEGIN])

    assert judged(found).problems == ("invalid: the end of the record is missing",)


def test_what_is_not_drained_fails_unless_that_is_allowed() -> None:
    found = history([RunMoment(5, UNDRAINED, "3 pods unschedulable (Insufficient cpu)")])
    text = "not drained: 3 pods unschedulable (Insufficient cpu)"

    assert judged(found).problems == (text,)
    allowed = judged(found, allow_undrained=True)
    assert (allowed.passed, allowed.drained, allowed.remarks) == (True, False, (text,))


def test_a_command_that_fails_fails_the_run_and_so_does_an_interrupt_before_its_end() -> None:
    found = history(
        [RunMoment(5, COMMAND, "the command ended with exit code 3"), RunMoment(5, INTERRUPTED)]
    )

    assert judged(found).problems == (
        "the command ended with exit code 3",
        "it was interrupted before its end",
    )


def test_failed_assertions_and_gaps_are_counted() -> None:
    found = history([Gap(0, 5, "pods", "the watch ended")])
    reader = AssertionReader(FIGURES)
    judgements = judge(
        [reader.read("pods.created == 0"), reader.read("pods.created > 0")], whole_run(found)
    )

    said = verdict(found, judgements, allow_undrained=False)

    assert said.problems == ("1 of 2 assertions failed",)
    assert said.remarks == (
        "1 gap in the watch of pods: what was received late is not in percentiles",
    )


STUCK = RecordText(9, "0/4 nodes are available: 4 Insufficient cpu.")
GOING = PodChange(5, 1, "n1", "Running", 2, 0, True)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ([], ""),
        (life(1, 0), "1 pods not yet bound"),
        (life(1, 0, 1), "1 pods bound, but not Running"),
        (life(1, 0, 1, 2), ""),
        (life(1, 0, 1, 2, 3), ""),
        ([*life(1, 0, 1, 2), GOING], "1 pods being deleted"),
        ([*life(1, 0, 1, 2), GOING, PodGone(6, 1)], ""),
        ([*life(1, 0), PodGone(6, 1)], ""),
        (
            [STUCK, *life(1, 0), PodChange(5, 1, "", "Pending", 0, 9), *life(2, 0)],
            "1 pods unschedulable (Insufficient cpu), 1 pods not yet bound",
        ),
        ([job(1, 0), job(2, 0), JobChange(5, 2, "Suspended", 1)], "1 Jobs active, 1 Jobs suspended"),
        ([job(1, 0), done(1, 5), job(2, 0), JobChange(5, 2, "Failed", 1)], ""),
    ],
)  # fmt: skip
def test_what_is_on_its_way_is_said_in_words(lines: list[Lines], text: str) -> None:
    found = history(lines)

    assert ending.undrained(found, NO_WORKLOADS) == text
    assert ending.has_open(found) is bool(text)


def test_what_is_not_of_the_run_is_not_waited_for() -> None:
    mine = PodShape(2, "", "", "", 0, "", {RUN_LABEL: "r1"})
    found = history([mine, seen(1, 0), seen(2, 0, shape=2), job(1, 0)], scope=RunScope(run="r1"))

    assert ending.undrained(found, NO_WORKLOADS) == "1 pods not yet bound"


class Clock:
    """A time that a test sets."""

    def __init__(self) -> None:
        self.time = 0

    def __call__(self) -> int:
        return self.time


@pytest.mark.parametrize(
    ("last", "now", "expected"),
    [
        (running(1, 5 * SECOND), 8 * SECOND - 1, False),
        (running(1, 5 * SECOND), 8 * SECOND, True),
        (ended(1, 5 * SECOND), 8 * SECOND, True),
        (PodChange(5 * SECOND, 1, "n1", "Pending", 1), 60 * SECOND, False),
    ],
)
async def test_a_run_is_over_when_nothing_is_open_and_nothing_has_changed_for_three_seconds(
    last: Lines, now: int, *, expected: bool
) -> None:
    found = History.of(header(), [BEGIN, *life(1, 0), last])
    clock = Clock()
    over = ending.drained(found, NO_WORKLOADS, clock, is_watched=lambda: True)
    task = asyncio.ensure_future(over)
    await asyncio.sleep(0)  # it begins at the time 0
    clock.time = now

    done, _ = await asyncio.wait([task], timeout=0.25)
    task.cancel()

    assert bool(done) is expected


@pytest.mark.parametrize("levels", [(None, 3), (None, 1, 0), (7, 9), (7, 8, 7)])
def test_a_run_in_which_etcd_had_no_room_is_invalid(levels: tuple[int | None, ...]) -> None:
    (problem,) = verdict(_with_alarms("NOSPACE", *levels), [], allow_undrained=False).problems

    assert problem.startswith("invalid: etcd has refused writes")
    assert "NOSPACE" in problem


@pytest.mark.parametrize(("alarm", "levels"), [("NOSPACE", (None, None)), ("NOSPACE", (7, 7)), ("NOSPACE", (7, 6)), ("CORRUPT", (0, 1))])  # fmt: skip
def test_alarms_of_etcd_before_a_run_do_not_make_it_invalid(
    alarm: str, levels: tuple[int | None, ...]
) -> None:
    assert verdict(_with_alarms(alarm, *levels), [], allow_undrained=False).valid


def _with_alarms(alarm: str, *levels: int | None) -> History:
    """Return what a record says in whose samples etcd counts its alarms like this."""
    sampled = Sampled()
    for number, level in enumerate(levels):
        text = f'etcd_debugging_server_alarms{{alarm_type="{alarm}"}}'
        values: dict[str, MetricValue] = {} if level is None else {text: level}
        sampled.values("etcd", number * SECOND, values, is_whole=number in (0, len(levels) - 1))
    return history(sampled.lines)
