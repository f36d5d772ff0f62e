"""Gives memory back that a long-lived process has freed."""

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Give the machine back what lies free between what is used, where the C library can do that.

    It keeps such gaps (malloc_trim(3)): a process in which objects come and go would grow for hours.
    """
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
