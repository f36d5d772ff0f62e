"""Times in the status of a pod: whole seconds, and the same ones are read at each look."""

from functools import lru_cache

from kwokctl.expr.duration import format_time, parse_time


@lru_cache(maxsize=8192)
def read_moment(text: str) -> float:
    """Return a time as a POSIX time stamp; raise ExpressionError if it is none."""
    return parse_time(text)


def write_moment(at: float) -> str:
    """Write a POSIX time stamp without its fraction."""
    return _written(int(at))


@lru_cache(maxsize=64)
def _written(second: int) -> str:
    return format_time(second)
