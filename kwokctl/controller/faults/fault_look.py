"""A look at a Fault that is due, or will be."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

_NO_NODES: AbstractSet[str] = frozenset()
"""Shared by looks without any: a cluster may have ten thousand Faults in which nothing happens."""


class FaultLook:
    """The changes since the last look at a Fault, and whether another look is due."""

    __slots__ = (
        "_newcomers",
        "_nodes",
        "_ring",
        "has_followed",
        "is_all",
        "is_busy",
        "is_queued",
        "is_wanted",
        "tries",
        "uid",
    )

    def __init__(self, uid: str, ring: Callable[["FaultLook"], None]) -> None:
        """Begin with a look at all nodes; `ring` is called when one is due."""
        self.uid = uid
        self._ring = ring
        self.is_queued = False
        self.is_busy = False
        """Whether a worker looks: two at a time would overwrite what the other stores."""
        self.is_wanted = False
        """Whether another look became due meanwhile."""
        self._nodes: set[str] | None = None
        self.is_all = True
        """Whether all of them are to be looked at."""
        self._newcomers: set[str] | None = None
        self.has_followed = False
        """Whether those were found that had come when the start of the fault was seen."""
        self.tries = 0

    @property
    def newcomers(self) -> AbstractSet[str]:
        """The names of nodes that came after the selection."""
        return self._newcomers or _NO_NODES

    def changed(self, node: str) -> None:
        """Note that a node has changed, by its name."""
        if self._nodes is None:
            self._nodes = set()
        self._nodes.add(node)

    def take_nodes(self) -> AbstractSet[str]:
        """Return the names of the nodes that have changed since the last look, and forget them."""
        nodes, self._nodes = self._nodes or _NO_NODES, None
        return nodes

    def came(self, nodes: AbstractSet[str]) -> None:
        """Note nodes that came after the selection, by name."""
        if nodes:
            self._newcomers = {*self.newcomers, *nodes}

    def followed(self, nodes: AbstractSet[str]) -> None:
        """Forget nodes that came, by name: it is known whether they are hit."""
        self._newcomers = {*(self.newcomers - nodes)} or None

    def on_due(self) -> None:
        """Ask for a look now."""
        self._ring(self)
