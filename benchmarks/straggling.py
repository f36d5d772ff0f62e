"""Finds objects that have been in one state for longer than they should. Pure but for its clock."""

from collections.abc import Callable, Iterator


class Stragglers:
    """Objects that are not yet ready or not yet gone, since when, and those that took too long."""

    def __init__(self, clock: Callable[[], float], patience: float) -> None:
        """Allow `patience` seconds of `clock` for becoming ready, and for going."""
        self._clock = clock
        self._patience = patience
        self._since: dict[str, tuple[str, float]] = {}
        self._late: set[str] = set()

    def note(self, name: str, state: str) -> None:
        """Take note of the state of an object; empty if there is nothing to wait for."""
        former = self._since.get(name)
        if former is not None and former[0] == state:
            return
        now = self._clock()
        if former is not None and now - former[1] > self._patience:
            self._late.add(name)
        if state:
            self._since[name] = (state, now)
        else:
            self._since.pop(name, None)

    def found(self) -> set[str]:
        """Return the objects that took too long, or do so now."""
        return self._late | set(self._overdue())

    def _overdue(self) -> Iterator[str]:
        now = self._clock()
        for name, (_, since) in self._since.items():
            if now - since > self._patience:
                yield name
