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


def test_processor_time_beyond_the_bound_is_refused_and_the_timer_is_taken_back() -> None:
    with pytest.raises(TimeoutError), bounded(seconds=0.05):
        _never_ends()

    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == signal.SIG_DFL


def _never_ends() -> None:
    for _ in count():
        pass
