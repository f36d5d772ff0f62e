"""When the program of a rank ends, by the state of its training and by its own faults."""

import math

from kwokctl.controller.lifecycle.containers.container_program import ContainerProgram
from kwokctl.controller.lifecycle.pod_faults.hit_run import HitRun
from kwokctl.controller.lifecycle.pod_faults.hits import WorkloadHit
from kwokctl.controller.lifecycle.training_run import TrainingRun
from kwokctl.faults.overlays.open_entries import WorkloadEffect
from kwokctl.training.plan import TrainingPlan
from kwokctl.training.state import TrainingState

T = 1000.0
PROGRAM = ContainerProgram(run=7, exit_codes=(3,))
PLAN = TrainingPlan(steps=10, step_time=2)
WAITING = TrainingState.waiting(PLAN, T - 60)
RUNNING = WAITING.started(T, ranks=2, speed=1)


def run(
    state: TrainingState | None, *, started: float = T, watchdog: float | None = None
) -> tuple[float | None, int]:
    found = TrainingRun(state=state, now=T + 5, watchdog=watchdog).program(PROGRAM, started)
    return found.run, found.exit_codes[0]


def test_a_rank_runs_until_the_last_step_of_all_is_done() -> None:
    assert run(RUNNING) == (20, 3)
    assert run(RUNNING, started=T - 15) == (35, 3)
    assert run(RUNNING.paced(T + 10, 0.5)) == (30, 3)
    assert run(RUNNING.done()) == (20, 3)


def test_it_waits_while_the_training_has_not_begun_whatever_its_own_words_say() -> None:
    assert run(None) == run(WAITING) == (None, 3)
    assert run(RUNNING, started=T + 1) == (None, 3)  # it is not in this attempt


def test_it_waits_for_a_rank_that_is_gone_until_its_watchdog() -> None:
    stopped = RUNNING.stopped(T + 9)
    assert run(stopped) == (None, 3)
    assert run(stopped, watchdog=30) == (39, 134)
    assert run(RUNNING.paced(T + 4, 0), watchdog=30) == (34, 134)
    assert run(stopped, started=T + 10, watchdog=30) == (None, 3)


def test_a_pod_that_waits_is_looked_at_again_much_later() -> None:
    waits = TrainingRun(state=WAITING, now=T)
    waits.program(PROGRAM, T)
    assert T < waits.due < math.inf


def test_a_fault_of_its_own_comes_first_if_it_is_earlier() -> None:
    def end(after: float) -> tuple[float | None, int]:
        effect = WorkloadEffect(effect="fail", exit_code=134)
        hit = WorkloadHit(key="k", fault="f", since=T + after, effect=effect)
        faults = HitRun(hits=[hit], now=T + 30, has_progress=True)
        found = TrainingRun(state=RUNNING, now=T + 30, faults=faults).program(PROGRAM, T)
        return found.run, found.exit_codes[0]

    assert end(6) == (6, 134)
    assert end(25) == (20, 3)
