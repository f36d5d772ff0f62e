"""Calls what is due at its time, with one timer for all that wait."""

import asyncio
from typing import Protocol

from kwokctl.controller.scheduling.schedule import Schedule


class Waiter(Protocol):
    """Something that waits for its time."""

    def on_due(self) -> None:
        """Do what is due now; must return at once."""
        ...

    def __hash__(self) -> int:
        """Tell it apart from others."""
        ...


class DelayQueue:
    """A schedule that runs on the loop's clock; there is no task and no timer for each waiter."""

    def __init__(self) -> None:
        """Begin empty; must be called on the running loop."""
        self._loop = asyncio.get_running_loop()
        self._schedule: Schedule[Waiter] = Schedule()
        self._timer: asyncio.TimerHandle | None = None
        self._alarm = float("inf")

    def __len__(self) -> int:
        """Count what waits."""
        return len(self._schedule)

    def now(self) -> float:
        """Return the time on the loop's clock, in seconds."""
        return self._loop.time()

    def put(self, waiter: Waiter, delay: float) -> None:
        """Call `waiter.on_due` after `delay` seconds, instead of at the time it was due before."""
        self.put_at(waiter, self._loop.time() + delay)

    def put_at(self, waiter: Waiter, due: float) -> None:
        """Do the same at a time of the loop's clock; many at one time cost less than at many."""
        self._schedule.put(waiter, due)
        if due < self._alarm:
            self._set_alarm(due)

    def forget(self, waiter: Waiter) -> bool:
        """Do not call a waiter any more; return whether it waited."""
        return self._schedule.forget(waiter)

    def close(self) -> None:
        """Call nothing any more."""
        if self._timer is not None:
            self._timer.cancel()

    def _set_alarm(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._alarm = due
        self._timer = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer, self._alarm = None, float("inf")
        for waiter in self._schedule.pop_due(self._loop.time()):
            waiter.on_due()
        due = self._schedule.next_due()
        if due is not None and due < self._alarm:
            self._set_alarm(due)
