"""Gives nodes that are written to etcd the leases that the controller would give them."""

from kwokctl.clusters.scaling.direct import Direct
from kwokctl.controller.lease_book import Claim
from kwokctl.dataplane.desk import Identity
from kwokctl.dataplane.stamp import Copy
from kwokctl.dataplane.store import Stored
from kwokctl.dataplane.uid import new_uid
from kwokctl.kube.resource import LEASES, NODE_LEASES

_TOGETHER = 64
"""Leases of a transaction: two operations each, 128 at most (`--max-txn-ops` of etcd)."""


class NodeLeases:
    """The leases of new nodes, with the controller as their holder.

    They are written after their nodes, else the garbage collector looks for the owners of leases
    that it has not heard of. Where the controller was first, its lease stays.
    """

    def __init__(self, direct: Direct, identity: Identity) -> None:
        """Write to etcd; `identity` is the controller's own."""
        self._direct = direct
        self._identity = identity
        self._bare: list[Copy] = []

    async def note(self, node: Copy) -> None:
        """Take note of a node that has been written, and write leases when there are enough."""
        self._bare.append(node)
        if len(self._bare) >= _TOGETHER:
            await self.write()

    async def write(self) -> None:
        """Write the leases of all nodes that have none yet."""
        bare, self._bare = self._bare, []
        if not bare or not self._identity.lease_seconds:
            return
        now = self._direct.wall()
        await self._direct.store.change_many([(self._lease(node, now), 0) for node in bare])

    def _lease(self, node: Copy, now: float) -> Stored:
        identity = self._identity
        lease = Claim(node.name, node.uid).lease(
            holder=identity.holder, duration=identity.lease_seconds, now=now
        )
        key = self._direct.keys.key(LEASES, NODE_LEASES, node.name)
        return Stored(key, lease.named(new_uid(), node.created).value())
