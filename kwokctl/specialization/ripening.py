"""A cache that makes a value only for keys that recur."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_FEWEST_USES = 8
"""Uses of a key from which a value is made for it: making one costs as much as some dozen plays."""


class Ripening(Generic[K, V]):
    """Makes a value at the eighth use of its key; the least recently used values are evicted."""

    __slots__ = ("_made", "_most", "_seen")

    def __init__(self, most: int) -> None:
        """Keep at most `most` values, and count as many keys."""
        self._most = most
        self._made: OrderedDict[K, V | None] = OrderedDict()
        self._seen: OrderedDict[K, int] = OrderedDict()

    def get(self, key: K, make: Callable[[], V | None]) -> V | None:
        """Return the value for a key; None if there is none yet, or if `make` has returned None."""
        try:
            found = self._made[key]
        except KeyError:
            return self._count(key, make)
        self._made.move_to_end(key)
        return found

    def _count(self, key: K, make: Callable[[], V | None]) -> V | None:
        seen = self._seen.pop(key, 0) + 1
        if seen < _FEWEST_USES:
            self._seen[key] = seen
            _bound(self._seen, self._most)
            return None
        made = self._made[key] = make()
        _bound(self._made, self._most)
        return made


def _bound(table: "OrderedDict[K, V]", most: int) -> None:
    if len(table) > most:
        table.popitem(last=False)
