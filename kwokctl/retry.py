"""Repeats requests that failed: which errors are temporary, and how long to wait."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from random import Random
from typing import TypeVar

from kwokctl.errors import ApiError, NotFoundError, RequestError

log = logging.getLogger(__name__)

T = TypeVar("T")

_PASSING_STATUS = frozenset({0, 408, 429, 500, 502, 503, 504})
"""No answer, a server that is overloaded or failing, and a proxy that does not reach it
(https://github.com/kubernetes/community/blob/master/contributors/devel/sig-architecture/api-conventions.md#http-status-codes)."""
_PASSING_REASONS = frozenset({"ServerTimeout", "Timeout", "ServiceUnavailable", "TooManyRequests"})

_PAUSES = (0.1, 0.5, 1.0, 2.0)
"""Seconds to wait before each try after one that the cluster could not answer."""
_MORE = (4.0, 5.0)
"""And before further tries if no server was there at all: it may be about to be started again.

They end after the watch on etcd gives up, whose error says more.
"""
_ASK_FIRST = 0.2
ASK_MOST = 5.0
"""Seconds between questions, unless something else is said."""


def may_pass(error: RequestError) -> bool:
    """Return whether the same request may succeed later, without any other change."""
    if error.is_final:
        return False
    return error.status in _PASSING_STATUS or error.reason in _PASSING_REASONS


def backoff(tries: int, random: Random, *, first: float, most: float) -> float:
    """Return how long to wait before the next try, in seconds, after `tries` failures.

    Doubles from `first` up to `most`, with a fifth of jitter, so that many do not come at once.
    """
    return min(first * 2.0 ** min(tries - 1, 32), most) * random.uniform(1.0, 1.2)


async def retried(work: Callable[[], Awaitable[T]]) -> T:
    """Do `work`, and repeat it as long as it fails with a temporary error.

    Raises RequestError for a refusal, a full etcd, for which a person must make room, or after the last try. A try without an answer may have
    succeeded: a caller that writes must expect the next try to find that.
    """
    for pause in _PAUSES + _MORE:
        try:
            return await work()
        except RequestError as e:
            if not may_pass(e) or e.is_full or (pause in _MORE and e.status):
                raise
        await asyncio.sleep(pause)
    return await work()


async def until_answered(
    ask: Callable[[], Awaitable[T]],
    random: Random,
    *,
    most: float = ASK_MOST,
    is_told: Callable[[], bool] = lambda: True,
) -> T:
    """Ask until there is an answer; each kind of refusal is a warning in the log once, unless `is_told` says no.

    `most` is how many seconds pass between two questions, after several.
    """
    tries = 0
    known: set[tuple[str, int, str]] = set()
    while True:
        try:
            return await ask()
        except (ApiError, NotFoundError) as e:
            tries += 1
            mark = (type(e).__name__, getattr(e, "status", 0), getattr(e, "reason", ""))
            is_new = mark not in known and is_told()
            level = logging.WARNING if is_new else logging.DEBUG
            log.log(level, "%s; trying again%s", e, f"; {e.hint}" if e.hint else "")
            known.add(mark)
        await asyncio.sleep(backoff(tries, random, first=_ASK_FIRST, most=most))
