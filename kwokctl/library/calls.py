"""Does asynchronous work for a method of the library, and shows its caller what to do about an error."""

from collections.abc import Callable, Coroutine
from typing import TypeVar

from kwokctl.errors import KwokctlError
from kwokctl.library.loop import loop_thread

T = TypeVar("T")
__tracebackhide__ = True
"""pytest shows the line of the test that has called, and none of these."""


def call(work: Coroutine[object, None, T]) -> T:
    """Do the work; an error shows what to do about it where its traceback is printed."""
    return shown(lambda: loop_thread().run(work))


def shown(wait: Callable[[], T]) -> T:
    """Wait for work, and let its error show the hint and the detail likewise."""
    try:
        return wait()
    except KwokctlError as e:
        for each in filter(None, (e.hint, e.detail)):
            e.add_note(each)
        # What has happened on the loop's thread is not for the caller, who sees his own line.
        raise e.with_traceback(None) from e.__cause__
