"""Describes a step of long work in words: how much is done, of what total, in what time."""

from collections import deque

import msgspec

_RATE_AFTER = 2.0
"""Seconds after which a step shows its rate, and the time that is left."""
_LOOK_BACK = 10.0
"""Seconds over which the rate is measured."""
_MEGABYTE = 1e6
_ENOUGH = 10
"""Things that must be done within these seconds for the time that is left to be estimated."""


class Row(msgspec.Struct, kw_only=True):
    """A step under way, or just ended."""

    title: str
    total: int | None
    unit: str
    started: float
    """On the clock that `so_far` and `in_all` are given the time of."""
    depth: int
    """The number of steps that enclose it."""
    what: str = ""
    done: int = 0
    _marks: deque[tuple[float, int]] = msgspec.field(default_factory=deque)
    """The amounts done at recent times; the earliest is at least `_LOOK_BACK` ago, if there is one so old."""

    def say(self, what: str) -> None:
        """Set the text of what is being done right now."""
        self.what = safe(what)

    def expect(self, total: int | None) -> None:
        """Set the total."""
        self.total = total

    def advance(self, amount: int = 1) -> None:
        """Count work done."""
        self.done += amount

    @property
    def share(self) -> float | None:
        """The finished share of the total, from 0 to 1; None without a total."""
        return min(self.done / self.total, 1.0) if self.total else None

    def numbers(self, now: float) -> list[str]:
        """List how much is done, how fast, and the time left: the most important first."""
        count = amount(self.done, self.unit) if self.done else ""
        if self.total is not None:
            # One unit says enough, unless it scales the number.
            done = amount(self.done, "B" if self.unit == "B" else "")
            count = f"{done} of {amount(self.total, self.unit)}"
        parts = (count, *self._speed(now), took(now - self.started))
        return [part for part in parts if part]

    def so_far(self, now: float) -> str:
        """Say it in one line: `12.5 MB of 40.0 MB, 4.0 MB/s, 7 s left, 3.1 s, unpacking`."""
        return _joined(*self.numbers(now), self.what)

    def in_all(self, now: float) -> str:
        """Summarise the step when it has ended: `40.0 MB, 3.9 s`."""
        count = amount(self.done, self.unit) if self.done else ""
        return _joined(count, took(now - self.started))

    def _speed(self, now: float) -> tuple[str, str]:
        """Return the rate, and the estimated time that is left."""
        recent, seconds = self._recently(now)
        if recent <= 0 or now - self.started < _RATE_AFTER:
            return "", ""
        rate = recent / seconds
        speed = bandwidth(rate) if self.unit == "B" else f"{rate:,.{rate < 10:d}f}/s"
        left = 0 if self.total is None else self.total - self.done
        is_estimated = left > 0 and recent >= _ENOUGH
        return speed, f"{about(left / rate)} left" if is_estimated else ""

    def _recently(self, now: float) -> tuple[int, float]:
        """Return how much was done recent, in how many seconds."""
        marks = self._marks
        if not marks:
            marks.append((self.started, 0))
        marks.append((now, self.done))
        while marks[1][0] <= now - _LOOK_BACK:
            marks.popleft()
        at, done = marks[0]
        return self.done - done, now - at


def safe(text: str) -> str:
    """Remove control characters from text of other programs, except line ends and tabs."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")


def took(seconds: float) -> str:
    """Write a time as people read it: `1.9 s`, `2 min 05 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def about(seconds: float) -> str:
    """Write a time that is estimated: `29 s`, `2 min 05 s`, `3 h 20 min`."""
    whole = round(seconds)
    if whole < 3600:
        return f"{whole} s" if whole < 60 else took(whole)
    hours, rest = divmod(round(seconds / 60), 60)
    return f"{hours:,} h {rest:02d} min"


def amount(count: int, unit: str) -> str:
    """Write a count with its unit, given in the plural: `1,000 nodes`, `1 node`, `40.0 MB`, `51 kB`."""
    if unit == "B":
        return f"{count / 1e6:,.1f} MB" if count >= _MEGABYTE else f"{count / 1e3:,.0f} kB"
    return f"{count:,} {_singular(unit) if count == 1 else unit}".rstrip()


def bandwidth(rate: float) -> str:
    """Write bytes a second as people read them: `2.5 MB/s`, `51 kB/s`."""
    return f"{rate / 1e6:,.1f} MB/s" if rate >= _MEGABYTE else f"{rate / 1e3:,.0f} kB/s"


def _singular(plural: str) -> str:
    """Return the singular of a unit: Kubernetes forms its plurals by rule."""
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch")):
        if plural.endswith(ending):
            return plural.removesuffix(ending) + instead
    return plural.removesuffix("s")


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
