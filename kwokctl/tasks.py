"""Asynchronous work: the event loop, work on many items, work in the background, and until it is interrupted."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")
One = TypeVar("One")
Other = TypeVar("Other")


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Return a new loop: uvloop's, which takes half the CPU for each message, where there is one."""
    try:
        import uvloop  # not on every platform
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


async def for_each(
    items: Iterable[Item], work: Callable[[Item], Awaitable[None]], *, at_once: int
) -> None:
    """Work on every item, `at_once` of them at a time, taking them in their order.

    After a failure no other item is taken, and the work under way is finished: a quota counts an
    object whose creation is cancelled, though it may never exist. Then the first failure is raised
    as it is.
    """
    waiting = iter(items)
    failures: list[Exception] = []

    async def worker() -> None:
        try:
            while not failures:
                await work(next(waiting))
        except StopIteration:
            return
        except Exception as e:
            failures.append(e)

    async with asyncio.TaskGroup() as workers:
        for _ in range(at_once):
            workers.create_task(worker())
    if failures:
        raise failures[0]


async def both(one: Awaitable[One], other: Awaitable[Other]) -> tuple[One, Other]:
    """Do two things side by side, each to its end also where the other fails.

    Then a failure is raised as it is.
    """
    first, second = await asyncio.gather(one, other, return_exceptions=True)
    if isinstance(first, BaseException):
        raise first
    if isinstance(second, BaseException):
        raise second
    return first, second


@asynccontextmanager
async def beside(*work: Coroutine[object, None, None]) -> AsyncIterator[None]:
    """Do `work` in the background while inside; it is cancelled in the end.

    The first failure of it, or of what is done inside, ends both and is raised as it is.
    """
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(each) for each in work]
            yield
            for task in tasks:
                task.cancel()
    except BaseExceptionGroup as failures:
        raise first_failure(failures) from None


def first_failure(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first failure of a task group, however deeply it is nested."""
    failure: BaseException = failures
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure


async def all_of(works: Iterable[Coroutine[object, object, None]]) -> None:
    """Do things at once, all of them to their end, and raise the first error."""
    ends: Collection[BaseException | None] = await asyncio.gather(*works, return_exceptions=True)
    for end in ends:
        if end is not None:
            raise end


async def until_its_end(
    work: Awaitable[None], seconds: float | None, *, has_begun: Callable[[], bool]
) -> None:
    """Work until the time is over; once it has begun, an interrupt is the usual end of it."""
    try:
        async with asyncio.timeout(seconds):
            await work
    except TimeoutError:
        return
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not has_begun() or task is None:
            raise
        task.uncancel()
