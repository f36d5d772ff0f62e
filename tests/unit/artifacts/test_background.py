"""Work in a thread, and what it posts to the task that waits for it."""

import asyncio
import io
from contextlib import ExitStack
from contextvars import ContextVar
from threading import Event, get_ident

import pytest

from kwokctl.artifacts.background import Post, in_thread
from kwokctl.cli.output.plain import Plain


async def test_what_is_posted_is_called_in_order_in_the_task_that_waits() -> None:
    of_task: ContextVar[str] = ContextVar("of_task", default="another's")
    of_task.set("the waiting task's")
    seen: list[tuple[int, str, int]] = []

    def work(_stop: Event, post: Post) -> str:
        for number in range(3):
            post(lambda which: seen.append((which, of_task.get(), get_ident())), number)
        return "done"

    assert await in_thread(work) == "done"

    assert seen == [(number, "the waiting task's", get_ident()) for number in range(3)]


async def test_a_step_that_is_opened_by_a_post_is_closed_where_it_belongs() -> None:
    stream = io.StringIO()
    plain = Plain(stream, clock=lambda: 0.0)

    with plain.step("Outer"):
        with ExitStack() as steps:
            await in_thread(lambda _, post: post(steps.enter_context, plain.step("Inner")))
        with plain.step("Next"):
            pass

    assert [line.partition(" (")[0] for line in stream.getvalue().splitlines()] == [
        "· Outer", "  · Inner", "  ✓ Inner", "  · Next", "  ✓ Next", "✓ Outer",
    ]  # fmt: skip


async def test_an_error_of_the_work_is_its_callers() -> None:
    def work(_stop: Event, _post: Post) -> None:
        raise OSError("no disk")

    with pytest.raises(OSError, match="no disk"):
        await in_thread(work)


async def test_an_error_of_what_is_posted_ends_the_work() -> None:
    stopped = Event()

    def fail() -> None:
        raise OSError("no terminal")

    def work(stop: Event, post: Post) -> None:
        post(fail)
        stop.wait()
        stopped.set()

    with pytest.raises(OSError, match="no terminal"):
        await in_thread(work)
    assert await asyncio.to_thread(stopped.wait, 60)


async def test_after_a_cancellation_nothing_that_is_posted_is_called() -> None:
    begun, ended, called = asyncio.Event(), Event(), Event()

    def work(stop: Event, post: Post) -> None:
        post(begun.set)
        stop.wait()
        post(called.set)
        ended.set()

    waiting = asyncio.create_task(in_thread(work))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(ended.wait, 60)
    assert not called.is_set()
