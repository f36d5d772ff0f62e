"""Runs blocking work in a thread of its own, which a cancelled caller does not wait for."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from typing import TypeAlias, TypeVar

_T = TypeVar("_T")

Post: TypeAlias = Callable[..., None]
"""`post(call, *args)` calls something in the event loop's thread, in the order of posting."""


async def in_thread(work: Callable[[Event, Post], _T]) -> _T:
    """Run `work(stop, post)` in a thread and return its result.

    Cancelled, it sets `stop` and does not wait: a silent socket must not delay
    Ctrl-C. `work` must check `stop` before each of its steps.
    """
    loop = asyncio.get_running_loop()
    stop = Event()
    ended: asyncio.Future[_T] = loop.create_future()

    def post(call: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the loop may have been closed since
            loop.call_soon_threadsafe(lambda: None if stop.is_set() else call(*args))

    def body() -> None:
        try:
            result = work(stop, post)
        except BaseException as e:
            post(ended.set_exception, e)
        else:
            post(ended.set_result, result)

    Thread(target=body, daemon=True, name="kwokctl-artifacts").start()
    try:
        return await ended
    finally:
        stop.set()
