"""Values over time, in at most 600 bins, which become longer until they span the time that is wanted."""

from collections.abc import Sequence

MOST_BINS = 600
_Value = float | None


class Timeline:
    """Series of values with the same bins; a value is the mean of what was recorded in its bin."""

    def __init__(self, names: Sequence[str], span: float) -> None:
        """Begin with bins of a second; keep those of the last `span` seconds at least."""
        self.names = tuple(names)
        self.step = 1.0
        self.first = 0
        """The number of the first bin: it begins at `first * step`."""
        self._span = span
        self._complete: list[tuple[_Value, ...]] = []
        self._now: int | None = None
        """The number of the bin that is not complete."""
        self._sums = [0.0] * len(self.names)
        self._counts = [0] * len(self.names)

    @property
    def bins(self) -> list[tuple[_Value, ...]]:
        """The bins in order, each with a value of every series; of long ones also that which is not complete."""
        if self.step == 1.0 or self._now is None:
            return self._complete
        return [*self._complete, tuple(map(_mean, self._sums, self._counts))][-MOST_BINS:]

    @property
    def start(self) -> float:
        """The time at which the first of `bins` begins."""
        return self.first * self.step

    def record(self, time: float, values: Sequence[_Value]) -> None:
        """Record the values at a time in seconds, None for those that are not known."""
        number = int(time // self.step)
        if self._now is None:
            self.first = self._now = number
        if number > self._now:
            self._go_on(number)
        for place, value in enumerate(values):
            if value is not None:
                self._sums[place] += value
                self._counts[place] += 1

    def _go_on(self, number: int) -> None:
        """Complete the present bin, and begin that with a number."""
        assert self._now is not None
        self._complete.append(tuple(map(_mean, self._sums, self._counts)))
        nothing = (None,) * len(self.names)
        self._complete += [nothing] * min(number - self._now - 1, MOST_BINS)
        self._now = number
        self._sums = [0.0] * len(self.names)
        self._counts = [0] * len(self.names)
        while len(self._complete) >= MOST_BINS and self.step * MOST_BINS < self._span:
            self._merge()
        del self._complete[: 1 - MOST_BINS]
        self.first = self._now - len(self._complete)

    def _merge(self) -> None:
        """Make bins twice as long."""
        assert self._now is not None
        nothing = (None,) * len(self.names)
        first = self._now - len(self._complete)
        bins = [nothing, *self._complete] if first % 2 else self._complete
        if self._now % 2:  # the last one is the other half of the present bin
            last, weight = bins.pop(), int(self.step)  # it had a record a second
            self._sums = [(value or 0.0) * weight for value in last]
            self._counts = [weight * (value is not None) for value in last]
        pairs = zip(bins[::2], bins[1::2], strict=True)
        self._complete = [tuple(map(_both, *pair)) for pair in pairs]
        self.step *= 2
        self._now //= 2


def _mean(total: float, count: int) -> _Value:
    return round(total / count, 3) if count else None


def _both(one: _Value, other: _Value) -> _Value:
    known = [each for each in (one, other) if each is not None]
    return round(sum(known) / len(known), 3) if known else None
