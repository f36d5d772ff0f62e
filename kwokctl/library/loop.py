"""Runs asynchronous work for callers that are not asynchronous, in one thread with one event loop."""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from kwokctl.errors import UsageError
from kwokctl.tasks import first_failure, new_event_loop

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
_LOOK = 0.2
"""Seconds after which a caller that waits looks whether it was interrupted."""


class _Job(Generic[T_co]):
    """One piece of work, its result, and the way to call it off."""

    def __init__(self, work: Coroutine[object, None, T_co]) -> None:
        self.result: Future[T_co] = Future()
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
        self._jobs: asyncio.Queue[_Job[object] | None] = asyncio.Queue()
        self._running: set[_Job[object]] = set()
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="kwokctl", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[object, None, T]) -> T:
        """Do the work, and return its result or raise its error.

        An interrupt of the caller cancels the work; it is raised when that has ended.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise UsageError("a cluster cannot be used from within its own event loop")
        job = _Job(work)
        try:
            self._loop.call_soon_threadsafe(self._jobs.put_nowait, job)
            _wait(job.result)
            result: T = job.result.result()
        except BaseExceptionGroup as e:
            raise first_failure(e) from e
        except BaseException:
            if not job.result.done():
                self._loop.call_soon_threadsafe(job.call_off)
                _wait(job.result)
            raise
        return result

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

    async def _do(self, job: _Job[object]) -> None:
        self._running.add(job)
        try:
            await job.run()
        finally:
            self._running.discard(job)


def _wait(result: Future[T]) -> None:
    """Wait until there is a result.

    The kernel may hand an interrupt to another thread; Python then raises it in this one only when
    this one runs, and to wait for a lock without a deadline is not to run.
    """
    while not wait([result], timeout=_LOOK).done:
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
