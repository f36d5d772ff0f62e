"""What an error of the API means for whoever wanted to write, and how long to wait. Pure."""

from enum import Enum
from random import Random

from kwokctl.errors import ApiError

_TRANSIENT_STATUS = frozenset({0, 408, 429, 500, 502, 503, 504})
_TRANSIENT_REASONS = frozenset(
    {"ServerTimeout", "Timeout", "ServiceUnavailable", "TooManyRequests"}
)


_CONFLICTS_AT_ONCE = 3
_MOST = 30.0
_LASTING_FIRST, _LASTING_MOST = 5.0, 600.0
SOONEST = 1.0
"""The first wait after an error that may pass, in seconds."""


class Trouble(Enum):
    """What kind of error it was."""

    TRANSIENT = "transient"
    """The same write may succeed later."""
    CONFLICT = "conflict"
    """The object has changed: look at it again."""
    GONE = "gone"
    """There is no such object any more."""
    LASTING = "lasting"
    """The write is wrong, or not allowed, until something else changes."""


def trouble(error: ApiError) -> Trouble:
    """Tell what an error means."""
    if error.status in _TRANSIENT_STATUS or error.reason in _TRANSIENT_REASONS:
        return Trouble.TRANSIENT
    if error.status == 409 and error.reason != "AlreadyExists":
        return Trouble.CONFLICT
    if error.status in {404, 410}:
        return Trouble.GONE
    return Trouble.LASTING


def backoff(tries: int, random: Random, *, first: float, most: float) -> float:
    """Return how long to wait before the next try, in seconds, after `tries` failures.

    Doubles from `first` up to `most`, with a fifth of jitter, so that many do not come at once.
    """
    return min(first * 2.0 ** min(tries - 1, 32), most) * random.uniform(1.0, 1.2)


def wait_after(kind: Trouble, tries: int, random: Random) -> float:
    """Return how long an object waits after its last play has failed for the `tries`th time.

    A conflict is tried again at once, unless that goes on. What may pass is tried at least twice a
    minute, so that a cluster that comes back is not kept waiting; what lasts, ever more slowly.
    """
    if kind is Trouble.CONFLICT and tries <= _CONFLICTS_AT_ONCE:
        return 0.0
    if kind is Trouble.LASTING:
        return backoff(tries, random, first=_LASTING_FIRST, most=_LASTING_MOST)
    return backoff(tries, random, first=SOONEST, most=_MOST)
