"""How far a training has come after some work, and what pods may say of one."""

import pytest

from kwokctl.errors import ExpressionError
from kwokctl.training.plan import (
    CHECKPOINT_COST,
    CHECKPOINT_EVERY,
    RESTART_COST,
    STEP_TIME,
    STEPS,
    Position,
    TrainingPlan,
    read_plan,
)

PLAN = TrainingPlan(steps=100, step_time=2, checkpoint_every=10, checkpoint_cost=5, restart_cost=30)


def test_annotations_say_the_training() -> None:
    notes = {
        STEPS: "100",
        STEP_TIME: "2s",
        CHECKPOINT_EVERY: "10",
        CHECKPOINT_COST: "5s",
        RESTART_COST: "30s",
        "other": "x",
    }
    assert read_plan(notes) == PLAN
    assert read_plan({STEPS: "7", STEP_TIME: "500ms"}) == TrainingPlan(steps=7, step_time=0.5)
    assert read_plan({"other": "x"}) is None


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ({STEPS: "10"}, "'kwokctl.dev/step-time' is missing beside 'kwokctl.dev/steps'"),
        ({CHECKPOINT_EVERY: "10"}, "'kwokctl.dev/steps' is missing"),
        ({STEPS: "ten", STEP_TIME: "1s"}, "'kwokctl.dev/steps': 'ten' cannot be read"),
        ({STEPS: "10", STEP_TIME: "1 second"}, "'kwokctl.dev/step-time': '1 second'"),
        ({STEPS: "10", STEP_TIME: "0s"}, "a step takes some time"),
        ({STEPS: "-1", STEP_TIME: "1s"}, "'-1' is negative"),
    ],
)
def test_what_cannot_be_read_is_named(notes: dict[str, str], message: str) -> None:
    with pytest.raises(ExpressionError, match=message):
        read_plan(notes)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (0, Position(0, 0, 0)),
        (1.9, Position(0, 0, 1.9)),
        (2, Position(1, 0, 2)),
        (19.9, Position(9, 0, 19.9)),
        (20, Position(10, 0, 20)),  # the checkpoint is being written
        (24.9, Position(10, 0, 20)),
        (25, Position(10, 10, 20)),
        (29, Position(12, 10, 24)),
        (50, Position(20, 20, 40)),
    ],
)
def test_steps_and_checkpoints_after_some_work(work: float, expected: Position) -> None:
    assert PLAN.position(0, work, is_restart=False) == expected


def test_a_restart_costs_time_before_its_first_step() -> None:
    assert PLAN.position(20, 29, is_restart=True) == Position(20, 20, 0)
    assert PLAN.position(20, 30 + 25, is_restart=True) == Position(30, 30, 20)


def test_the_length_counts_steps_checkpoints_and_the_restart() -> None:
    assert PLAN.length(0, is_restart=False) == 200 + 9 * 5
    assert PLAN.length(80, is_restart=True) == 30 + 40 + 5
    assert PLAN.length(100, is_restart=False) == 0


def test_no_checkpoint_is_written_after_the_last_step() -> None:
    end = PLAN.length(0, is_restart=False)
    assert PLAN.position(0, end, is_restart=False) == Position(100, 90, 200)
    assert PLAN.position(0, end - 0.1, is_restart=False) == Position(99, 90, 199.9)
    assert PLAN.position(0, end + 50, is_restart=False) == Position(100, 90, 200)


def test_without_checkpoints_nothing_is_kept() -> None:
    plan = TrainingPlan(steps=10, step_time=0.1)
    assert plan.position(0, 0.3, is_restart=False).step == 3  # 0.3 / 0.1 is less than 3
    assert plan.position(0, 0.9, is_restart=False).checkpoint == 0
    assert plan.length(0, is_restart=True) == 1
