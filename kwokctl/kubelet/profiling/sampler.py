"""Samples where the main thread is, a hundred times in a second of CPU time."""

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

PERIOD = 0.01
"""CPU seconds between two samples."""
_DEEPEST = 200

Stack = tuple[tuple[CodeType, int], ...]
"""Code and line of each call, the innermost first."""


class StackSampler:
    """Counts stacks while it runs; costs nothing else."""

    def __init__(self) -> None:
        self.is_running = False
        self.stacks: Counter[Stack] = Counter()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count from zero while inside; there is one timer in a process, so only once at a time."""
        self.stacks = Counter()
        self.is_running = True
        former = signal.signal(signal.SIGPROF, self._note)
        signal.siginterrupt(signal.SIGPROF, False)
        signal.setitimer(signal.ITIMER_PROF, PERIOD, PERIOD)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, former)
            self.is_running = False

    def _note(self, _: int, frame: FrameType | None) -> None:
        self.stacks[tuple(_calls(frame))] += 1


def _calls(frame: FrameType | None) -> Iterator[tuple[CodeType, int]]:
    depth = 0
    while frame is not None and depth < _DEEPEST:
        yield frame.f_code, frame.f_lineno
        frame, depth = frame.f_back, depth + 1
