"""Times in the status of a pod: whole seconds, and the same ones are read at each look."""

from functools import lru_cache
from typing import Any

from kwokctl.expr.duration import format_time, parse_time
from kwokctl.expr.gotemplate.symbols import Symbol


def read_moment(text: Any) -> Any:
    """Return a time as a POSIX time stamp; raise ExpressionError if it is none.

    That of a symbol is a symbol.
    """
    return text.deferred(parsed_moment, text) if isinstance(text, Symbol) else parsed_moment(text)


def write_moment(at: Any) -> Any:
    """Write a POSIX time stamp without its fraction; that of a symbol is a symbol."""
    return at.deferred(written_moment, at) if isinstance(at, Symbol) else written_moment(at)


@lru_cache(maxsize=8192)
def parsed_moment(text: str) -> float:
    """Return a time as a POSIX time stamp; raise ExpressionError if it is none."""
    return parse_time(text)


def written_moment(at: float) -> str:
    """Write a POSIX time stamp without its fraction."""
    return _of_second(int(at))


@lru_cache(maxsize=64)
def _of_second(second: int) -> str:
    return format_time(second)
