"""An embedded component as a process: its log, its memory, and its end."""

import asyncio
import gc
import logging
import signal
from collections.abc import Callable, Coroutine

from kwokctl.errors import KwokctlError
from kwokctl.host.memory import give_back
from kwokctl.progress import Silent
from kwokctl.tasks import new_event_loop

log = logging.getLogger("kwok")
_GC_THRESHOLDS = (50_000, 20, 100)
"""Thousands of objects are kept for long: looking through them often finds nothing."""
_GIVE_BACK_EVERY = 60.0
"""Seconds."""


class LogProgress(Silent):
    """Writes what is reported while settings are read to the log."""

    def note(self, text: str) -> None:
        """Log a note."""
        log.info("%s", text)

    def warn(self, text: str) -> None:
        """Log a warning."""
        log.warning("%s", text)


def log_to_stderr() -> None:
    """Write the log of this process to standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(_KlogFormatter())
    logging.getLogger().handlers[:] = [handler]
    logging.getLogger().setLevel(logging.INFO)


def set_verbosity(verbosity: int) -> None:
    """Log more for a higher `--v`, less for a negative one."""
    logging.getLogger().setLevel(_level(verbosity))


def _level(verbosity: int) -> int:
    if verbosity <= -2:
        return logging.ERROR
    if verbosity == -1:
        return logging.WARNING
    return logging.DEBUG if verbosity >= 4 else logging.INFO


class _KlogFormatter(logging.Formatter):
    """Writes level, date, time, process and source before each message."""

    def __init__(self) -> None:
        super().__init__(
            "%(levelname).1s%(asctime)s.%(msecs)03d000 %(process)d %(filename)s:%(lineno)d] %(message)s",
            datefmt="%m%d %H:%M:%S",
        )


def run_process(begin: Callable[[], Coroutine[object, object, None]]) -> int:
    """Run until SIGTERM or SIGINT what `begin` makes of the settings, and return the exit code.

    An error of either ends the process, and is in the log.
    """
    log_to_stderr()
    try:
        work = begin()
        collect_rarely()
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(_until_a_signal(work))
    except KwokctlError as e:
        return failed(e)
    return 0


async def _until_a_signal(work: Coroutine[object, object, None]) -> None:
    _end_at_signals()
    try:
        await work
    except asyncio.CancelledError:
        log.info("received a signal to end")


def _end_at_signals() -> None:
    """Cancel the current task on SIGTERM and SIGINT."""
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)


def failed(error: KwokctlError) -> int:
    """Log the error that ends the process, and return its exit code."""
    log.error("%s", error)
    if error.hint:
        log.error("hint: %s", error.hint)
    return error.exit_code


def collect_rarely() -> None:
    """Make the garbage collector run less often."""
    gc.set_threshold(*_GC_THRESHOLDS)


def freeze() -> None:
    """Exempt all objects that exist now from garbage collection."""
    gc.collect()
    gc.freeze()


async def give_back_regularly() -> None:
    """Return unused memory to the operating system, until cancelled."""
    while True:
        await asyncio.sleep(_GIVE_BACK_EVERY)
        give_back()
