"""The meter of one resource of a container or a node."""

from kwokctl.kubelet.usage.curves.curve import Curve

_FIRST = 1e-6
"""The first value of every counter: metrics-server takes 0 for a container that it knows nothing of."""


class Meter:
    """Counts what a curve gives, and what the curves before it have given."""

    __slots__ = ("_before", "_curve", "_least", "_since", "_started")

    def __init__(self, curve: Curve, started: float, least: float = 0.0) -> None:
        """Begin when the container was started; it uses at least so much."""
        self._least = least
        self._curve = curve
        self._started = started
        self._since = started
        self._before = _FIRST

    def rate(self, now: float) -> float:
        """Return what is used now."""
        return max(self._curve.at(now - self._started), self._least)

    def total(self, now: float) -> float:
        """Return what has been used until now, times the seconds for which it was."""
        if now <= self._since:
            return self._before
        started = self._started
        return self._before + self._curve.between(self._since - started, now - started)

    def follow(self, curve: Curve, now: float) -> None:
        """Follow another curve from now on."""
        if curve != self._curve:
            self._before, self._since, self._curve = self.total(now), max(now, self._since), curve
