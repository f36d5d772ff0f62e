"""The port through which a keeper of leases asks about other controllers."""

from collections.abc import Collection
from typing import Protocol


class Sharing(Protocol):
    """Decides which leases of others may be claimed, and which of one's own are given away."""

    @property
    def is_shared(self) -> bool:
        """Whether other controllers want to hear of leases that change hands."""
        ...

    def announces(self, holder: str) -> bool:
        """Return whether this controller hears of it when a holder gives a lease away, or is gone."""
        ...

    def free_since(self, holder: str, expires: float) -> float:
        """Return from when on a lease may be claimed that ends at `expires` by itself."""
        ...

    def is_gone(self, holder: str) -> bool:
        """Return whether a holder does not renew its leases any more."""
        ...

    def deal(self, holder: str, nodes: Collection[str]) -> None:
        """Note all the nodes that a holder which is gone has left."""
        ...

    def is_first(self, node: str, holder: str) -> bool:
        """Return whether this controller is the first that may claim a node which is free.

        Empty is the holder of a node without a lease. Others may claim it a second later.
        """
        ...

    def recipient(self) -> str:
        """Return to whom the next lease is given instead of being renewed; empty for none."""
        ...


class Alone:
    """There are no other controllers, or they come and go without a word."""

    is_shared = False

    def announces(self, holder: str) -> bool:
        """Look at each lease again and again."""
        return False

    def free_since(self, holder: str, expires: float) -> float:
        """Wait until a lease has ended."""
        return expires

    def is_gone(self, holder: str) -> bool:
        """Wait until a lease has ended."""
        return False

    def deal(self, holder: str, nodes: Collection[str]) -> None:
        """Share out nothing."""

    def is_first(self, node: str, holder: str) -> bool:
        """Claim whatever is free."""
        return True

    def recipient(self) -> str:
        """Give nothing away."""
        return ""
