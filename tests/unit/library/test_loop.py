"""Work is done in a thread with one event loop, for callers that wait for it."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from kwokctl.errors import NotFoundError, UsageError
from kwokctl.library.loop import LoopThread, loop_thread


@pytest.fixture
def thread() -> Iterator[LoopThread]:
    made = LoopThread()
    yield made
    made.close()


async def _answer() -> int:
    await asyncio.sleep(0)
    return 42


async def _fail(error: Exception) -> None:
    raise error


def test_the_result_is_returned(thread: LoopThread) -> None:
    assert thread.run(_answer()) == 42


def test_an_error_is_raised_as_it_is(thread: LoopThread) -> None:
    with pytest.raises(NotFoundError, match="no such thing"):
        thread.run(_fail(NotFoundError("no such thing")))
    assert thread.run(_answer()) == 42


def test_of_several_errors_the_first_is_raised(thread: LoopThread) -> None:
    group = ExceptionGroup("two", [UsageError("one"), UsageError("other")])

    with pytest.raises(UsageError, match="one"):
        thread.run(_fail(group))


def test_several_threads_have_their_work_done_at_once(thread: LoopThread) -> None:
    meeting = asyncio.Barrier(2)

    async def meet() -> None:
        await meeting.wait()

    other = threading.Thread(target=lambda: thread.run(meet()))
    other.start()
    thread.run(meet())
    other.join()


def test_the_loop_itself_cannot_wait_for_it(thread: LoopThread) -> None:
    async def nested() -> None:
        thread.run(_answer())

    with pytest.raises(UsageError, match="from within"):
        thread.run(nested())


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_is_raised_when_the_work_has_undone_what_it_must(thread: LoopThread) -> None:
    seen: list[str] = []

    async def undoing() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            seen.append("undone")

    with pytest.raises(KeyboardInterrupt):
        thread.run(undoing())
    assert seen == ["undone"]


def test_work_under_way_is_cancelled_when_the_thread_is_closed() -> None:
    thread = LoopThread()
    begun, ends = threading.Event(), []

    async def waiting() -> None:
        begun.set()
        await asyncio.Event().wait()

    def other() -> None:
        try:
            thread.run(waiting())
        except asyncio.CancelledError:
            ends.append("cancelled")

    caller = threading.Thread(target=other)
    caller.start()
    begun.wait()
    thread.close()
    caller.join()

    assert ends == ["cancelled"]


def test_all_clusters_of_a_process_share_a_thread() -> None:
    assert loop_thread() is loop_thread()


def test_work_that_has_begun_is_waited_for_later(thread: LoopThread) -> None:
    begun, over = Future[None](), threading.Event()

    async def work() -> int:
        begun.set_result(None)
        await asyncio.to_thread(over.wait)
        return 42

    job = thread.job(work())
    thread.start(job, until=begun)

    assert not job.result.done()
    assert thread.run(_answer()) == 42
    over.set()
    assert thread.finish(job) == 42


def test_work_that_fails_before_it_has_begun_is_not_waited_for(thread: LoopThread) -> None:
    job = thread.job(_fail(NotFoundError("no such thing")))

    thread.start(job, until=Future())

    with pytest.raises(NotFoundError, match="no such thing"):
        thread.finish(job)


def test_work_that_is_called_off_may_have_a_result(thread: LoopThread) -> None:
    begun = Future[None]()

    async def work() -> str:
        begun.set_result(None)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "as far as it went"
        return "never"

    job = thread.job(work())
    thread.start(job, until=begun)
    thread.call_off(job)
    thread.call_off(job)

    assert job.result.result() == "as far as it went"
