"""The composition root: from the environment to the folders, and from a verb to its result."""

import asyncio
import os
import signal
import stat
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import ParamSpec, TypeVar

from kwokctl.cli.output import diagnosis, standard_streams
from kwokctl.cli.output.console import Console
from kwokctl.clusters.state.home import Home
from kwokctl.host.paths import WorkDir, cache_dir, default_workdir
from kwokctl.progress import Progress
from kwokctl.tasks import new_event_loop

P = ParamSpec("P")
T = TypeVar("T")
_HANGUP = getattr(signal, "SIGHUP", None)
"""None on Windows, which has no such signal."""
_SIGNALS = tuple(filter(None, (signal.SIGINT, signal.SIGTERM, _HANGUP)))
_PATIENCE = 0.3
"""Seconds after an interrupt until the command says why it has not ended yet."""


def home(progress: Progress) -> Home:
    """Return where this user's clusters are kept."""
    return Home(workdir=WorkDir(default_workdir()), cache=cache_dir(), progress=progress)


def run_verb(
    console: Console, verb: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs
) -> T:
    """Run a verb to its end.

    The first interrupt, termination or hangup signal cancels it, so that it undoes what it must;
    then KeyboardInterrupt is raised with the signal's number. The second ends the process at once.
    """
    diagnosis.begin()
    interrupts = _Interrupts(console)

    async def main() -> T:
        with interrupts.cancelling(asyncio.current_task()):
            return await verb(*args, **kwargs)

    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            return runner.run(main())
    except asyncio.CancelledError:
        if interrupts.first is None:
            raise
        raise KeyboardInterrupt(interrupts.first) from None


class _Interrupts:
    """Turns signals into the cancellation of a task."""

    def __init__(self, console: Console) -> None:
        self.first: int | None = None
        self._console = console

    @contextmanager
    def cancelling(self, task: "asyncio.Task[object] | None") -> Iterator[None]:
        """Cancel `task` at the first signal, end the process at the second."""
        loop = asyncio.get_running_loop()

        def cancel() -> None:
            loop.call_later(
                _PATIENCE, self._console.line, "cleaning up; a second signal ends at once"
            )
            if task is not None:
                task.cancel()

        def on_signal(number: int, _frame: FrameType | None) -> None:
            if self.first is not None:
                if number == _HANGUP:
                    # A terminal that is closed causes two: one of its own, and one of its shell.
                    return
                self._console.abandon()
                os._exit(128 + number)
            self.first = number
            _let_go_of_closed_terminals()
            loop.call_soon_threadsafe(cancel)

        before = {
            number: signal.signal(number, on_signal) for number in _SIGNALS if _is_ours(number)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _is_ours(number: int) -> bool:
    """Return whether to handle a signal: under `nohup` a hangup stays ignored."""
    return number != _HANGUP or signal.getsignal(number) is not signal.SIG_IGN


def _let_go_of_closed_terminals() -> None:
    """Drop output to a terminal that is gone: its errors would end the cleaning up."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(descriptor).st_mode) and not os.isatty(descriptor):
                standard_streams.drop(descriptor)
