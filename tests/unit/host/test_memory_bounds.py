import gc
import resource
import signal
from itertools import count

import pytest

from kwokctl.host.memory import bounded


def test_memory_beyond_the_bound_is_refused_and_the_limit_is_taken_back() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)

    with pytest.raises(MemoryError), bounded(memory=1 << 26):
        bytearray(1 << 28)

    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytearray(1 << 28)) == 1 << 28


def test_finalizers_of_garbage_do_not_run_into_the_bound() -> None:
    class Cycle:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            finalized.append(gc.isenabled())

    finalized: list[bool] = []
    gc.collect()  # the next one is not due until many objects have been made
    Cycle()
    with bounded():
        kept: list[list[None]] = [[] for _ in range(10_000)]  # enough to start a collection
        assert len(kept) == 10_000
        assert not finalized

    gc.collect()
    assert finalized == [True]


def test_processor_time_beyond_the_bound_is_refused_and_the_timer_is_taken_back() -> None:
    with pytest.raises(TimeoutError), bounded(seconds=0.05):
        _never_ends()

    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == signal.SIG_DFL


def _never_ends() -> None:
    for _ in count():
        pass
