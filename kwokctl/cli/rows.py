"""One step of long work as it is told to a person: what is done, of how much, in what time."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Row:
    """A step under way, or just ended."""

    title: str
    total: int | None
    unit: str
    started: float
    """On the clock that `so_far` and `in_all` are given the time of."""
    depth: int
    """How many steps it is inside of."""
    what: str = ""
    done: int = 0

    def say(self, what: str) -> None:
        """Tell what is being done right now."""
        self.what = safe(what)

    def advance(self, amount: int = 1) -> None:
        """Count work done."""
        self.done += amount

    @property
    def share(self) -> float | None:
        """How much of the total is done, from 0 to 1; None without a total."""
        return min(self.done / self.total, 1.0) if self.total else None

    def so_far(self, now: float) -> str:
        """Say how the step stands: `12.5 of 40.0 MB, 3.1 s, unpacking`."""
        count = amount(self.done, self.unit) if self.done else ""
        if self.total is not None:
            # One unit says enough, unless it scales the number.
            done = amount(self.done, "B" if self.unit == "B" else "")
            count = f"{done} of {amount(self.total, self.unit)}"
        return _joined(count, took(now - self.started), self.what)

    def in_all(self, now: float) -> str:
        """Say what came of the step: `40.0 MB, 3.9 s`."""
        count = amount(self.done, self.unit) if self.done else ""
        return _joined(count, took(now - self.started))


def safe(text: str) -> str:
    """Drop the control characters from text that is not ours, except line ends and tabs."""
    return "".join(c for c in text if c.isprintable() or c in "\n\t")


def took(seconds: float) -> str:
    """Write a time as people read it: `1.9 s`, `2 min 05 s`."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def amount(count: int, unit: str) -> str:
    """Write a count with its unit: `1,000 nodes`; bytes as `40.0 MB`."""
    return f"{count / 1e6:,.1f} MB" if unit == "B" else f"{count:,} {unit}".rstrip()


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
