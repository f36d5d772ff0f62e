"""The queue from which the node lifecycle controller taints the nodes of a zone, as fast as a token bucket permits. Pure.

Source: pkg/controller/nodelifecycle/scheduler/rate_limited_queue.go (Try, NodeEvictionPeriod, EvictionRateLimiterBurst) of Kubernetes 1.36.
"""

from collections import deque
from math import ceil, inf

_LOOKS = 10
"""The number of times a second that the controller looks at the queue."""


def interval(rate: float) -> float:
    """Return the seconds between the taints of two nodes, at a rate in nodes a second; without end at 0.

    A look ends at the first node for which there is no token, and there is never more than one. So more than ten nodes a second are
    tainted only where a taint takes longer to write than the next token to come: then a look goes on.
    """
    return ceil(round(_LOOKS / rate, 6)) / _LOOKS if rate > 0 else inf


class TaintQueue:
    """The nodes of a zone that wait for their taint; times are in seconds and never go back."""

    def __init__(self, rate: float) -> None:
        """Begin with one token, the most there ever is; `rate` is in nodes a second."""
        self._rate = rate
        self._next = 0.0
        """The time at which there is a token again."""
        self._waiting: deque[int] = deque()

    def add(self, node: int) -> None:
        """Let a node wait behind the others."""
        self._waiting.append(node)

    def due(self, now: float, until: float) -> list[tuple[float, int]]:
        """Take the nodes that are tainted from a time on, but before another, with their times."""
        found = []
        while self._waiting and (time := max(now, self._next)) < until:
            found.append((time, self._waiting.popleft()))
            self._next = time + interval(self._rate)
        return found

    def swap(self, rate: float, now: float) -> None:
        """Continue at another rate: with a token if there was one, else with an empty bucket."""
        if rate == self._rate:
            return
        had_token = self._next <= now
        self._rate = rate
        self._next = now if had_token and rate > 0 else now + interval(rate)
