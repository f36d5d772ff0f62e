"""The addresses of the pods of managed nodes, by pod."""

from collections.abc import Sequence

from kwokctl.controller.nodes.address_pool import AddressPool
from kwokctl.controller.nodes.registry import NodeRegistry


class PodIPs:
    """Gives each pod the addresses it has or is to have, the same ones as long as it lives."""

    def __init__(self, nodes: NodeRegistry, *, default_cidr: str, node_ip: str) -> None:
        """Use `default_cidr` for nodes without a pod CIDR, `node_ip` for nodes without address."""
        self._nodes = nodes
        self._pool = AddressPool()
        self._default = (default_cidr,)
        self._node_ips = (node_ip,) if node_ip else ()
        self._owned: dict[str, tuple[str, ...]] = {}
        self._reserved: dict[str, float] = {}
        """Addresses that `scale` writes into pods, with the time until which it may."""

    def __len__(self) -> int:
        """Count the addresses in use."""
        return len(self._pool)

    @property
    def reserved(self) -> int:
        """How many addresses are reserved."""
        return len(self._reserved)

    def families(self, node: str) -> int | None:
        """Return how many addresses a pod of a node has; None if the node is not played here."""
        return len(self._cidrs(node)) if self._nodes.get(node) is not None else None

    def of_node(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a node, the first of which is its main one."""
        node = self._nodes.get(name)
        return (node.addresses if node is not None else ()) or self._node_ips

    def of_pod(self, uid: str, node: str, *, host_network: bool) -> tuple[str, ...]:
        """Return a pod's addresses, one for each CIDR of its node; allocated when first asked."""
        if host_network:
            return self.of_node(node)
        owned = self._owned.get(uid)
        if owned is None:
            owned = tuple(map(self._pool.allocate, self._cidrs(node)))
            self._owned[uid] = owned
        return owned

    def note(self, uid: str, node: str, addresses: Sequence[str]) -> None:
        """Take note of the addresses that a pod's status says it has."""
        if uid not in self._owned:
            cidrs = self._cidrs(node)
            self._owned[uid] = tuple([a for a in addresses if self._take(a, cidrs)])

    def release(self, uid: str) -> None:
        """Take back the addresses of a pod that exists no longer."""
        self._pool.release(self._owned.pop(uid, ()))

    def reserve(self, node: str, number: int, *, until: float) -> list[tuple[str, ...]]:
        """Hand out addresses for so many pods of a node that `scale` makes.

        Those that no pod has been seen with by the time `until` can be taken back by `expire`.
        """
        cidrs = self._cidrs(node)
        found = [tuple(map(self._pool.allocate, cidrs)) for _ in range(number)]
        self._reserved.update((address, until) for addresses in found for address in addresses)
        return found

    def expire(self, now: float) -> float | None:
        """Take back the addresses that were reserved for longer than until `now`.

        Returns until when the others are, at the soonest; None if there are no others.
        """
        late = [address for address, until in self._reserved.items() if until <= now]
        for address in late:
            del self._reserved[address]
        self._pool.release(late)
        return min(self._reserved.values(), default=None)

    def _take(self, address: str, cidrs: Sequence[str]) -> bool:
        if self._reserved.pop(address, None) is not None:
            return True
        return self._pool.take(address, cidrs)

    def _cidrs(self, name: str) -> tuple[str, ...]:
        node = self._nodes.get(name)
        return (node.cidrs if node is not None else ()) or self._default
