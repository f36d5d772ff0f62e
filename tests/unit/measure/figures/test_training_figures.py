"""What a record says of trainings: what they have done and lost."""

from datetime import datetime

import pytest

from kwokctl.measure.figures.figure_catalogue import whole_run
from kwokctl.measure.figures.values import Missing, SingleNumber
from kwokctl.measure.histories.history import History
from kwokctl.measure.record.gang_lines import GangSeen
from kwokctl.measure.record.record_lines import JobChange, JobSeen, Lines, PodShape
from kwokctl.measure.reports.training_table import training_table
from kwokctl.replacing import replace
from kwokctl.training.plan import TrainingPlan
from kwokctl.training.state import TrainingState, state_text
from tests.support.measured import SECOND, figure, header, history, life

WALL = datetime.fromisoformat(header().wall).timestamp()
PLAN = TrainingPlan(steps=100, step_time=2, checkpoint_every=10, checkpoint_cost=5, restart_cost=30)
JOB = "uid-of-job-1"
JOB_SET = "jobsets.jobset.x-k8s.io"


def seconds(after: float) -> float:
    return WALL + after


WAITING = TrainingState.waiting(PLAN, seconds(10))
FIRST = WAITING.started(seconds(20), ranks=4, speed=1)
STOPPED = FIRST.stopped(seconds(20 + 29))
"""12 steps done, 10 in the checkpoint."""
SECOND_TRY = STOPPED.started(seconds(60), ranks=4, speed=1)
DONE = SECOND_TRY.done()


def job(state: TrainingState | None) -> JobSeen:
    text = "" if state is None else state_text(state)
    return JobSeen(10 * SECOND, 1, JOB, "default", "j", "", 4, {}, "", False, text)


def recorded(*states: TrainingState) -> History:
    """Return what is known of a Job that says these states one after the other."""
    return history(recorded_lines(*states))


def recorded_lines(*states: TrainingState) -> list[Lines]:
    shape = PodShape(2, "Job", "j", JOB, 0, "cpu=1,nvidia.com/gpu=8", {})
    first, *others = states
    lines: list[Lines] = [
        shape,
        job(first),
        *life(1, 11 * SECOND, 12 * SECOND, 13 * SECOND, shape=2),
    ]
    return [*lines, *(JobChange(20 * SECOND, 1, "", 4, state_text(each)) for each in others)]


def number(name: str, found: History) -> float:
    value = figure(f"training{name}", found)
    assert isinstance(value, SingleNumber), value
    return value.value


def why(name: str, found: History) -> str:
    value = figure(f"training{name}", found)
    assert isinstance(value, Missing), value
    return value.why


def test_the_last_state_counts() -> None:
    found = recorded(WAITING, FIRST, STOPPED, SECOND_TRY, DONE)
    assert figure("training", found) == SingleNumber(1, detail={"Done": 1})
    assert [number(each, found) for each in (".done", ".stops", ".lost_steps")] == [1, 1, 2]


def test_goodput_is_the_length_of_the_steps_that_count() -> None:
    found = recorded(DONE)
    # from 10 to 60 + 30 + 180 + 8 * 5: 100 steps of 2 s
    wall = 60 + 30 + 180 + 40 - 10
    assert number(".goodput", found) == pytest.approx(100 * 200 / wall)
    assert number(".ettr", found) == pytest.approx(100 * 200 / wall)
    assert number(".lost_gpu_hours", found) == pytest.approx((wall - 10 - 200) * 4 * 8 / 3600)


def test_a_training_that_never_began_counts_with_the_pods_that_it_needs() -> None:
    other = GangSeen(
        10 * SECOND,
        2,
        "uid-of-w",
        "default",
        "w",
        "",
        12,
        {},
        "",
        False,
        JOB_SET,
        state_text(WAITING),
    )
    found = recorded(FIRST.done())
    both = history([*recorded_lines(FIRST.done()), other])
    alone, wall = number(".goodput", found), 20 + 245 - 10
    assert number("", both) == 2
    ranks, waited = 4 * wall, 12 * (3600 - 10)
    assert number(".goodput", both) == pytest.approx(alone * ranks / (ranks + waited))


def test_slow_steps_are_productive_and_no_goodput() -> None:
    slow = FIRST.paced(seconds(20), 0.5).done()
    found = recorded(slow)
    wall = 10 + 2 * 245
    assert number(".goodput", found) == pytest.approx(100 * 200 / wall)
    assert number(".ettr", found) == pytest.approx(100 * 400 / wall)


def test_a_training_that_stopped_has_what_is_in_its_checkpoint() -> None:
    found = recorded(STOPPED)
    wall = 3600 - 10  # the end of the record
    assert number(".goodput", found) == pytest.approx(100 * 20 / wall)
    assert number(".done", found) == 0


def test_a_training_that_runs_has_done_what_follows_from_its_state() -> None:
    long = replace(FIRST, plan=replace(PLAN, steps=10_000))
    found = recorded(long)
    rounds, rest = divmod(3600 - 20, 25)
    assert number(".goodput", found) == pytest.approx(100 * (rounds * 10 + rest // 2) * 2 / 3590)
    assert number("", recorded(FIRST)) == 1
    assert number(".done", recorded(FIRST)) == 1  # its last step was before the end of the record


def test_without_a_time_of_day_states_count_as_they_are() -> None:
    found = recorded(STOPPED)
    found.header = replace(found.header, wall="")  # as of a recording of whole objects
    assert number(".goodput", found) == pytest.approx(100 * 20 / 39)
    assert [number(each, found) for each in (".done", ".stops", ".lost_steps")] == [0, 1, 2]
    assert why("", history([job(None)])) != ""


def test_the_optimal_interval_is_that_of_the_measured_mean_time_to_failure() -> None:
    found = recorded(STOPPED)
    assert number(".mttf", found) == 29
    value = figure("training.optimal_interval", found)
    assert value == SingleNumber((2 * 5 * 29) ** 0.5, note="9 steps; it was 10")


def test_what_is_not_known_is_said() -> None:
    assert "no Job or JobSet of the run trains" in why(".goodput", history([job(None)]))
    assert why(".mttf", recorded(FIRST.done())) == "no training has stopped"
    free = replace(STOPPED, plan=replace(PLAN, checkpoint_cost=0))
    assert "checkpoint-cost" in why(".optimal_interval", recorded(free))
    assert "nvidia.com/gpu" in why(".lost_gpu_hours", history([job(DONE)]))


def test_a_job_set_says_the_training_of_its_jobs() -> None:
    shape = PodShape(2, "Job", "s-0", "uid-of-s-0", 0, "nvidia.com/gpu=8", {}, f"{JOB_SET}=s")
    pods = life(1, 11 * SECOND, 12 * SECOND, 13 * SECOND, shape=2)
    found = history(
        [
            GangSeen(
                10 * SECOND,
                1,
                "uid-s",
                "default",
                "s",
                "",
                4,
                {},
                "",
                False,
                JOB_SET,
                state_text(DONE),
            ),
            shape,
            *pods,
        ]
    )
    assert number(".stops", found) == 1
    assert number(".lost_gpu_hours", found) > 0


def test_the_page_has_a_row_for_each_training() -> None:
    table = training_table(whole_run(recorded(STOPPED)))
    assert table is not None
    assert table.rows == [("default/j", "Stopped", "10 of 100", "1", "1", "2", "0.56 %", "0.56 %")]
    assert training_table(whole_run(history([job(None)]))) is None
