"""Bounds for what a program of the user's takes of this process: memory and processor time.

An expression can ask for more than any machine has, in a few characters. Python gives no way to
stop that from outside but the kernel's own limits.
"""

import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

MEMORY = 1 << 30
SECONDS = 3.0


@contextmanager
def bounded(*, memory: int = MEMORY, seconds: float = SECONDS) -> Iterator[None]:
    """Raise MemoryError or TimeoutError inside when more is taken.

    Must be entered on the main thread, since it uses a timer's signal.
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_least(_size() + memory, *before), before[1]))
    handler = signal.signal(signal.SIGVTALRM, _time_is_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def _time_is_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _least(*limits: int) -> int:
    return min(limit for limit in limits if limit != resource.RLIM_INFINITY)


def _size() -> int:
    """Return the bytes of this process's address space (proc(5))."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()
