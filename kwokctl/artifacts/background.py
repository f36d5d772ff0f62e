"""Runs blocking work in a thread of its own, which a cancelled caller does not wait for."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")

Post: TypeAlias = Callable[..., None]
"""`post(call, *args)` calls something in the caller's task, in the order of posting."""


async def in_thread(work: Callable[[Event, Post], _T]) -> _T:
    """Run `work(stop, post)` in a thread and return its result.

    What is posted is called in the task that waits here: a step that it opens is one of that task's, which closes
    it, and an error of it ends the waiting.

    Cancelled, it sets `stop` and does not wait: a silent socket must not delay
    Ctrl-C. `work` must check `stop` before each of its steps.
    """
    loop = asyncio.get_running_loop()
    stop = Event()
    posted: asyncio.Queue[Callable[[], object]] = asyncio.Queue()
    ended: asyncio.Future[_T] = loop.create_future()

    def post(call: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the loop may have been closed since
            loop.call_soon_threadsafe(posted.put_nowait, partial(call, *args))

    def body() -> None:
        try:
            result = work(stop, post)
        except BaseException as e:
            post(ended.set_exception, e)
        else:
            post(ended.set_result, result)

    Thread(target=body, daemon=True, name="kwokctl-artifacts").start()
    try:
        while not ended.done():
            call = await posted.get()
            call()
        return ended.result()
    finally:
        stop.set()
