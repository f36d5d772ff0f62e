"""The questions that storms ask about repairs."""

from typing import Protocol


class Repairs(Protocol):
    """Knows which nodes are in repair."""

    @property
    def is_known(self) -> bool:
        """Whether all repairs are known, or the cluster has turned out to have none."""
        ...

    def is_in_repair(self, node_uid: str) -> bool:
        """Return whether a node is in repair now: no new fault begins on it."""
        ...
