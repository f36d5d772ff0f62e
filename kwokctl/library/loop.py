"""Runs asynchronous work for callers that are not asynchronous, in one thread with one event loop."""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, Generic, TypeVar

from kwokctl.errors import UsageError
from kwokctl.tasks import first_failure, new_event_loop

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_LOOK = 0.2
"""Seconds after which a caller that waits looks whether it was interrupted."""


class LoopJob(Generic[T_co]):
    """One piece of work, its result, and the way to cancel it."""

    def __init__(self, work: Coroutine[object, None, T_co]) -> None:
        self.result: Future[T_co] = Future()
        self.has_started = False
        self._work = work
        self._task: asyncio.Task[object] | None = None

    async def run(self) -> None:
        """Do the work; its errors are raised in the thread of the caller."""
        if self.result.done():
            return
        self._task = asyncio.current_task()
        try:
            self.result.set_result(await self._work)
        except BaseException as e:
            self.result.set_exception(e)

    def call_off(self) -> None:
        """Cancel it; it ends when it has undone what it must."""
        if self._task is not None:
            self._task.cancel()
        elif not self.result.done():
            self._work.close()
            self.result.set_exception(asyncio.CancelledError())


class LoopThread:
    """A thread that runs an event loop until it is closed."""

    def __init__(self) -> None:
        self._jobs: asyncio.Queue[LoopJob[object] | None] = asyncio.Queue()
        self._running: set[LoopJob[object]] = set()
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="kwokctl", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, None, T]) -> T:
        """Do the work, and return its result or raise its error.

        An interrupt of the caller cancels the work; it is raised when that has ended.
        """
        return self.finish(self.job(work))

    def job(self, work: Coroutine[object, None, T]) -> LoopJob[T]:
        """Return work that `start` or `finish` begins; UsageError in the thread of the loop, which cannot wait for it."""
        if threading.current_thread() is self._thread:
            work.close()
            raise UsageError("a cluster cannot be used from within its own event loop")
        return LoopJob(work)

    def start(self, job: LoopJob[T], until: "Future[None]") -> None:
        """Begin work, and return when `until` is set or the work is over; an interrupt as in `run`."""
        try:
            self._hand_over(job)
            _wait(job.result, until)
        except BaseException:
            self.call_off(job)
            raise

    def finish(self, job: LoopJob[T]) -> T:
        """Wait for the end of work, which begins unless it has, and return as `run` does."""
        try:
            self._hand_over(job)
            _wait(job.result)
            return job.result.result()
        except BaseExceptionGroup as e:
            raise first_failure(e) from e
        except BaseException:
            self.call_off(job)
            raise

    def call_off(self, job: LoopJob[T]) -> None:
        """Cancel work that goes on, and return when it has ended."""
        if not job.result.done():
            self._loop.call_soon_threadsafe(job.call_off)
            _wait(job.result)

    def _hand_over(self, job: LoopJob[T]) -> None:
        if not job.has_started:
            job.has_started = True
            self._loop.call_soon_threadsafe(self._jobs.put_nowait, job)

    def close(self) -> None:
        """Cancel the work under way, and end the thread."""
        self._loop.call_soon_threadsafe(self._jobs.put_nowait, None)
        self._thread.join()

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._main())

    async def _main(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            while job := await self._jobs.get():
                tasks.create_task(self._do(job))
            for each in self._running:
                each.call_off()

    async def _do(self, job: LoopJob[object]) -> None:
        self._running.add(job)
        try:
            await job.run()
        finally:
            self._running.discard(job)


def _wait(*results: Future[Any]) -> None:
    """Wait until there is one of the results.

    The kernel may hand an interrupt to another thread; Python then raises it in this one only when
    this one runs, and to wait for a lock without a deadline is not to run.
    """
    while not wait(results, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
        pass


_lock = threading.Lock()
_threads: dict[int, LoopThread] = {}
"""The thread of this process; a forked child has none of its parent's."""


def loop_thread() -> LoopThread:
    """Return the thread that all clusters of this process share."""
    with _lock:
        pid = os.getpid()
        if pid not in _threads:
            _threads.clear()
            _threads[pid] = LoopThread()
            atexit.register(_close, pid)
        return _threads[pid]


def _close(pid: int) -> None:
    if pid == os.getpid() and (thread := _threads.pop(pid, None)):
        thread.close()
