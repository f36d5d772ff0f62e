"""The clock of faults: the time of day without the time in which no controller ran.

So a fault of ten minutes lasts ten minutes of a running cluster, whether it is stopped, saved, restored or forked
meanwhile.
"""

from collections.abc import Callable

LONGEST = 30.0
"""Seconds without a note that this process runs, after which it is taken to have been stopped; also on a busy machine,
it makes three such notes in that time."""
_BETWEEN_RENEWALS = 12.0
"""Seconds since the last renewal after which a controller that starts takes it that none has run: a little more than the
time between two renewals."""
_NOTICED = 1.0
"""Seconds: listeners are called only for a change of the clock that is at least this large."""


_DELAY = 2.0
"""Seconds in which a renewal by another controller is read. One that comes later sets the clock back by that: no more, for
the next one is compared with the clock that was set."""


class FaultClock:
    """The clock, as far as this controller knows."""

    def __init__(self, wall: Callable[[], float]) -> None:
        """Begin with the time of day; `wall` returns that."""
        self._wall = wall
        self.stood = 0.0
        """Seconds in which it stood still."""
        self.renewed: float | None = None
        """The time of day of the last renewal that this controller has read or made."""
        self._ran: float | None = None
        self._listeners: list[Callable[[], None]] = []

    def listen(self, changed: Callable[[], None]) -> None:
        """Call `changed` whenever the clock was set to another time."""
        self._listeners.append(changed)

    def now(self) -> float:
        """Return the time on the clock, as a POSIX time stamp."""
        return self._wall() - self.stood

    def of_day(self, at: float) -> float:
        """Return the time on the clock at a time of day to come."""
        return at - self.stood

    def run(self) -> None:
        """Note that this process runs: if it was stopped for long, the clock stood still meanwhile.

        So it does if the time of day was set forwards or back by as much.
        """
        now = self._wall()
        before, self._ran = self._ran, now
        if before is not None and abs(gap := now - before) > LONGEST:
            self._set(self.stood + gap)

    def take(self, stood: float, renewed: float) -> None:
        """Take over what a Lease says that was renewed at a time of day.

        One that is older than the last that was known was restored: the clock goes on from there. One that is not newer says
        nothing, because this controller has run since. Where the time of day of the controller that renews it is another than
        ours, only the time on its clock counts: it is the same as on ours, unless the Lease was restored.
        """
        before, self.renewed = self.renewed, renewed
        if before == renewed:
            return
        gap = self._wall() - renewed
        is_of_our_day = abs(gap) <= LONGEST
        if before is None:
            is_pause = gap > _BETWEEN_RENEWALS or not is_of_our_day
            self._set(stood + (gap if is_pause else 0.0))
        elif renewed > before and (is_of_our_day or abs(stood - self.stood) < _NOTICED):
            self._set(stood)
        elif is_of_our_day:
            self._set(stood + max(gap, 0.0))
        elif abs(self.now() - (renewed - stood)) > _DELAY:
            self._set(stood + gap)

    def _set(self, stood: float) -> None:
        before, self.stood = self.stood, stood
        if abs(stood - before) >= _NOTICED:
            for changed in self._listeners:
                changed()
