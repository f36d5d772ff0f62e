"""The state of a training when ranks start, stop, hang, slow down and come back."""

import math

import pytest

from kwokctl.training.optimum import best_interval
from kwokctl.training.plan import TrainingPlan
from kwokctl.training.state import TRAINING, TrainingState, state_in, state_text
from kwokctl.training.training_course import Rank, advanced, as_of_state, misses_one

PLAN = TrainingPlan(steps=100, step_time=2, checkpoint_every=10, checkpoint_cost=5, restart_cost=30)
T = 1000.0
UP = Rank(started=T, is_running=True)


def begun(*ranks: Rank, plan: TrainingPlan = PLAN) -> TrainingState:
    """Return a training whose ranks have just started."""
    waiting = TrainingState.waiting(plan, T - 5)
    return advanced(waiting, plan, ranks or (UP, UP), max(len(ranks), 2), T)


def test_it_waits_until_all_ranks_run() -> None:
    late = Rank(started=T + 7, is_running=True)
    waiting = TrainingState.waiting(PLAN, T - 5)
    assert advanced(waiting, PLAN, [UP], 2, T) == waiting
    assert (waiting.phase, waiting.end, waiting.submitted) == ("Waiting", None, T - 5)
    assert advanced(waiting, PLAN, [UP, Rank()], 2, T + 5).phase == "Waiting"
    running = advanced(waiting, PLAN, [UP, late], 2, T + 9)
    assert (running.phase, running.begun, running.attempt, running.ranks) == (
        "Running",
        T + 7,
        1,
        2,
    )
    assert running.end == T + 7 + 245


def test_nothing_happens_while_all_run() -> None:
    state = begun()
    assert advanced(state, PLAN, [UP, UP], 2, T + 100) == state


def test_a_rank_that_fails_stops_all_and_what_is_in_no_checkpoint_is_lost() -> None:
    # 29 s: 20 s for 10 steps, 5 s for the checkpoint, 2 steps more
    failed = Rank(started=T, ended=T + 29)
    state = advanced(begun(), PLAN, [UP, failed], 2, T + 33)
    assert (state.phase, state.since, state.step, state.checkpoint) == ("Stopped", T + 29, 12, 10)
    step, every = state.step, PLAN.checkpoint_every
    assert state.lost == step - every * (step // every) == 2
    assert (state.stops, state.ran, state.kept, state.end) == (1, 29, 20, None)


def test_a_checkpoint_that_is_being_written_is_lost() -> None:
    state = advanced(begun(), PLAN, [UP, Rank(started=T, ended=T + 24)], 2, T + 24)
    assert (state.step, state.checkpoint, state.lost, state.kept) == (10, 0, 10, 0)


def test_a_rank_of_which_nothing_is_known_stops_all_when_it_is_missed() -> None:
    state = begun()
    assert not misses_one(state, [UP, UP], 2)
    assert not misses_one(state, [UP, Rank(started=T, ended=T + 3)], 2)
    assert misses_one(state, [UP], 2)
    assert misses_one(state, [UP, Rank()], 2)
    assert advanced(state, PLAN, [UP], 2, T + 31) == state
    stopped = advanced(state, PLAN, [UP], 2, T + 31, missed=T + 29)
    assert (stopped.phase, stopped.since, stopped.lost) == ("Stopped", T + 29, 2)
    assert not misses_one(stopped, [UP], 2)
    assert advanced(state, PLAN, [UP, UP], 2, T + 31, missed=T + 29) == state


def test_it_resumes_from_the_checkpoint_when_all_run_again() -> None:
    failed = Rank(started=T, ended=T + 29)
    stopped = advanced(begun(), PLAN, [UP, failed], 2, T + 29)
    again = Rank(started=T + 40, is_running=True)
    assert advanced(stopped, PLAN, [UP, failed, Rank()], 2, T + 35) == stopped
    state = advanced(stopped, PLAN, [UP, failed, again], 2, T + 41)
    assert (state.phase, state.begun, state.start, state.attempt) == ("Running", T + 40, 10, 2)
    assert state.end == T + 40 + 30 + 180 + 8 * 5
    # the pod of the first attempt is still there, and stops nothing
    assert advanced(state, PLAN, [UP, failed, again], 2, T + 50) == state
    assert advanced(state, PLAN, [UP, failed, again], 2, T + 300).phase == "Done"


def test_a_container_that_was_started_again_is_a_stop_too() -> None:
    again = Rank(started=T + 40, ended=T + 29, is_running=True)
    stopped = advanced(begun(), PLAN, [UP, again], 2, T + 41)
    assert (stopped.phase, stopped.since) == ("Stopped", T + 29)
    state = advanced(stopped, PLAN, [UP, again], 2, T + 41)
    assert (state.phase, state.stops, state.lost) == ("Running", 1, 2)
    assert (state.begun, state.start, state.ran) == (T + 40, 10, 29)


def test_a_rank_of_a_later_attempt_that_a_rewind_has_undone_stops_nothing() -> None:
    later = Rank(started=T + 40, ended=T + 50)
    assert advanced(begun(), PLAN, [UP, UP, later], 2, T + 60) == begun()
    assert misses_one(begun(), [UP, later], 2)
    # one that began with the attempt does
    assert advanced(begun(), PLAN, [UP, Rank(started=T, ended=T)], 2, T + 60).phase == "Stopped"


def test_the_slowest_rank_sets_the_pace() -> None:
    slow = Rank(started=T, is_running=True, speed=0.5, paced=T + 10)
    state = advanced(begun(), PLAN, [UP, slow], 2, T + 11)
    assert (state.speed, state.since, state.work, state.step) == (0.5, T + 10, 10, 5)
    assert state.end == T + 10 + 2 * 235
    slower = Rank(started=T, is_running=True, speed=0.25, paced=T + 20)
    state = advanced(state, PLAN, [slow, slower], 2, T + 21)
    assert (state.speed, state.work) == (0.25, 15)
    healed = Rank(started=T, is_running=True, speed=1, paced=T + 40)
    state = advanced(state, PLAN, [slow, healed], 2, T + 41)
    assert (state.speed, state.since, state.work) == (0.5, T + 40, 20)
    # 20 s of steps were done in 10 + 2 * 5 + 4 * 5 s
    assert state.open == 40


def test_time_on_steps_that_are_kept_counts_at_the_speed_it_took() -> None:
    slow = Rank(started=T, is_running=True, speed=0.5, paced=T + 10)
    state = advanced(begun(), PLAN, [UP, slow], 2, T + 10)
    # work 29 is reached at T + 10 + 2 * 19: 10 s of steps, and 14 s at half speed, four of them after the checkpoint
    then = state.at(T + 48)
    assert (then.work, then.kept, then.open) == (29, 10 + 20, 8)


def test_a_hang_goes_on_until_its_rank_ends() -> None:
    hung = Rank(started=T, is_running=True, speed=0, paced=T + 29)
    state = advanced(begun(), PLAN, [UP, hung], 2, T + 31)
    assert (state.speed, state.since, state.end) == (0, T + 29, None)
    assert state.at(T + 90).work == 29
    ended = Rank(started=T, ended=T + 89, speed=0, paced=T + 29)
    state = advanced(state, PLAN, [UP, ended], 2, T + 90)
    assert (state.phase, state.since, state.lost, state.ran) == ("Stopped", T + 89, 2, 89)


def test_a_hang_and_its_end_may_be_seen_together() -> None:
    ended = Rank(started=T, ended=T + 89, speed=0, paced=T + 29)
    state = advanced(begun(), PLAN, [UP, ended], 2, T + 90)
    assert (state.phase, state.step, state.lost) == ("Stopped", 12, 2)


def test_it_is_done_after_its_last_step() -> None:
    plan = TrainingPlan(steps=5, step_time=0.5)
    state = begun(plan=plan)
    # the end of the container has no fraction: it is written as before the last step
    over = Rank(started=T, ended=T + 2, has_succeeded=True)
    done = advanced(state, plan, [over, over], 2, T + 2.6)
    assert (done.phase, done.since, done.step, done.kept, done.lost) == ("Done", T + 2.5, 5, 2.5, 0)
    assert advanced(done, plan, [], 2, T + 100) == done


def test_a_rank_that_succeeds_too_early_has_stopped() -> None:
    over = Rank(started=T, ended=T + 29, has_succeeded=True)
    assert advanced(begun(), PLAN, [UP, over], 2, T + 30).stops == 1


def test_what_fails_after_the_last_step_changes_nothing() -> None:
    plan = TrainingPlan(steps=5, step_time=1)
    state = advanced(begun(plan=plan), plan, [UP, Rank(started=T, ended=T + 6)], 2, T + 7)
    assert (state.phase, state.since) == ("Done", T + 5)


def test_the_annotation_says_the_whole_state() -> None:
    state = begun().stopped(T + 29)
    assert state_in({TRAINING: state_text(state)}) == state
    assert state_in({TRAINING: "{"}) is None
    assert state_in({}) is None


def test_looking_more_often_changes_nothing() -> None:
    state = begun()
    often = state
    for second in range(1, 247):
        often = often.at(T + second * 1.0)
    once = state.at(T + 246)
    assert often == once
    assert once.done().kept == pytest.approx(200)


def test_the_best_interval_is_that_of_young() -> None:
    assert best_interval(5, 1000) == 100
    assert math.isclose(best_interval(18, 60 * 60), 360)


def test_a_rank_of_which_a_later_time_is_known_does_what_the_state_says() -> None:
    state = begun().paced(T + 10, 0.5)
    goes_on = Rank(started=T, is_running=True, speed=0.5)
    assert as_of_state(Rank(started=T, ended=T + 30), state) == goes_on
    assert as_of_state(Rank(started=T + 50, is_running=True), state) == goes_on
    assert as_of_state(Rank(started=T, is_running=True, speed=0.1, paced=T + 20), state) == goes_on
    slow = Rank(started=T, is_running=True, speed=0.5, paced=T + 10)
    assert as_of_state(slow, state) == slow
    assert as_of_state(UP, state) == UP
    gone = Rank(started=T, ended=T + 3)
    assert as_of_state(gone, state.stopped(T + 30)) == gone


def test_what_is_lost_adds_up() -> None:
    twice = begun().stopped(T + 29).started(T + 40, ranks=2, speed=1).stopped(T + 40 + 30 + 8)
    assert (twice.stops, twice.lost, twice.ran, twice.checkpoint) == (2, 2 + 4, 29 + 38, 10)


def test_the_first_rank_that_stops_stops_all() -> None:
    ranks = [Rank(started=T, ended=T + 29), Rank(started=T, ended=T + 60)]
    assert advanced(begun(), PLAN, ranks, 2, T + 70).since == T + 29


def test_a_stop_that_is_seen_after_the_end_is_a_stop() -> None:
    state = advanced(begun(), PLAN, [UP, Rank(started=T, ended=T + 29)], 2, T + 300)
    assert (state.phase, state.since) == ("Stopped", T + 29)


def test_a_rank_that_fails_just_before_the_end_has_stopped() -> None:
    plan = TrainingPlan(steps=5, step_time=0.5)
    failed = Rank(started=T, ended=T + 2)
    assert advanced(begun(plan=plan), plan, [UP, failed], 2, T + 3).phase == "Stopped"


def test_it_begins_again_after_its_stop_though_all_ranks_have_run_since_before() -> None:
    again = advanced(begun().stopped(T + 29), PLAN, [UP, UP], 2, T + 35)
    assert (again.begun, again.attempt) == (T + 29.001, 2)
    # the rank that has stopped it is of the attempt before
    failed = Rank(started=T, ended=T + 29)
    assert advanced(again, PLAN, [UP, UP, failed], 2, T + 36) == again


def test_nothing_is_done_after_the_last_step() -> None:
    over = begun().at(T + 1000)
    assert (over.since, over.ran, over.step) == (T + 245, 245, 100)
