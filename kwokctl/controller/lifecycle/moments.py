"""Times in the status of a pod: whole seconds, and the same ones are read at each look."""

from functools import lru_cache
from typing import Any

from kwokctl.expr.duration import format_time, parse_time
from kwokctl.expr.gotemplate.symbols import Symbol


def read_moment(text: Any) -> float:
    """Return a time as a POSIX time stamp; raise ExpressionError for a text that is not a time.

    That of a symbol is a symbol.
    """
    if isinstance(text, Symbol):
        later: Any = text.deferred(_parsed, text)
        return later  # type: ignore[no-any-return]  # it counts like a number
    return _parsed(text)


def write_moment(at: Any) -> str:
    """Write a POSIX time stamp without its fraction; that of a symbol is a symbol."""
    if isinstance(at, Symbol):
        later: Any = at.deferred(written_moment, at)
        return later  # type: ignore[no-any-return]  # it is written like a text
    return written_moment(at)


@lru_cache(maxsize=8192)
def _parsed(text: str) -> float:
    return parse_time(text)


def written_moment(at: float) -> str:
    """Write a POSIX time stamp without its fraction."""
    return _of_second(int(at))


@lru_cache(maxsize=64)
def _of_second(second: int) -> str:
    return format_time(second)
