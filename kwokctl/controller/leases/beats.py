"""Schedules the renewals of leases: spread over their period, in batches."""

from math import ceil
from random import Random

from kwokctl.controller.leases.node_lease import NodeLease
from kwokctl.controller.scheduling.delay_queue import DelayQueue

_JITTER = 0.04
_TICK = 0.5
"""Renewals are gathered into moments this far apart: those that write, store and watch them wake less."""
_MOMENTS = 20
"""The same as a number in the time between two renewals: those of short leases come no later."""
_GOLDEN = 0.618033988749895
"""Its multiples, modulo 1, fill an interval evenly however many there are."""


class Beats:
    """The times at which the leases of one keeper are due."""

    def __init__(self, queue: DelayQueue, random: Random, *, period: float) -> None:
        """Renew each lease every `period` seconds."""
        self._queue = queue
        self._random = random
        self.period = period
        self._phase = 0.0

    def jitter(self) -> float:
        """Return a short time, so that not all come at once."""
        return self.period * _JITTER * self._random.random()

    def begin(self, lease: NodeLease, *, after: float = 0.0, at_most: float = float("inf")) -> None:
        """Write a Lease for the first time after a delay, such that all Leases spread evenly."""
        self._phase = (self._phase + _GOLDEN) % 1.0
        lease.beat = self._queue.now() + min(after + self.period * self._phase, at_most)
        self.put_at(lease, lease.beat)

    def next(self, lease: NodeLease) -> None:
        """Renew a lease a period after it was due, however late that was done.

        A Lease that is written before it is due starts a new period.
        """
        now = self._queue.now()
        if not 0.0 < lease.beat <= now:
            self.begin(lease)
            return
        lease.beat += self.period * max(1, ceil((now - lease.beat) / self.period))
        self.put_at(lease, lease.beat + self.jitter())

    def put_at(self, lease: NodeLease, due: float) -> None:
        """Write a lease at the next moment that it shares with others."""
        tick = min(_TICK, self.period / _MOMENTS)
        self._queue.put_at(lease, ceil(due / tick) * tick)
