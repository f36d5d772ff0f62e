from benchmarks.straggling import Stragglers


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_who_is_ready_and_gone_in_time_is_no_straggler() -> None:
    clock = Clock()
    stragglers = Stragglers(clock, patience=30)
    for state in ("waiting", "", "going", ""):
        stragglers.note("pod", state)
        clock.now += 20

    assert stragglers.found() == set()


def test_an_object_that_waits_too_long_counts_as_a_straggler_also_afterwards() -> None:
    clock = Clock()
    stragglers = Stragglers(clock, patience=30)
    stragglers.note("slow", "waiting")
    clock.now = 31

    assert stragglers.found() == {"slow"}
    stragglers.note("slow", "")
    assert stragglers.found() == {"slow"}


def test_noting_the_same_state_again_does_not_restart_the_wait() -> None:
    clock = Clock()
    stragglers = Stragglers(clock, patience=30)
    for _ in range(4):
        stragglers.note("pod", "going")
        clock.now += 10.1

    assert stragglers.found() == {"pod"}
