"""Allocates addresses to pods. Pure: no address is in use twice."""

import heapq
import logging
from collections.abc import Iterable, Sequence
from ipaddress import ip_interface
from socket import AF_INET, AF_INET6, inet_ntop, inet_pton

import msgspec

from kwokctl.controller.nodes.node_registry import Hold, NodeRegistry

log = logging.getLogger(__name__)

OVERFLOW = {4: "100.64.0.0/10", 6: "fd00:64::/64"}
"""The ranges from which pods get addresses when the CIDR of their node is used up (RFC 6598, RFC 4193)."""

_V6 = 1 << 128
"""Added to the integers of IPv6 addresses, so that one table holds both families."""
_WHOLE = (0, 1)
"""The only share of one."""


class _Pool(msgspec.Struct):
    """The addresses of one CIDR, lowest first, from the one after the address it is written with."""

    cidr: str
    family: int
    least: int
    last: int
    share: tuple[int, int] = _WHOLE
    """The index and the number of shares: the other shares belong to other controllers."""
    upcoming: int = 0
    freed: list[int] = msgspec.field(default_factory=list)

    def __post_init__(self) -> None:
        self.divide(self.share)

    def divide(self, share: tuple[int, int]) -> None:
        """Hand out only this share from now on, all of which is free but for what is taken."""
        self.share = share
        self.upcoming = self.least + share[0]
        self.freed.clear()

    def covers(self, number: int) -> bool:
        """Return whether an address is in the CIDR."""
        return self.least <= number <= self.last

    def is_behind(self, number: int) -> bool:
        """Return whether an address belongs to the share, and was passed on the way through it."""
        place, shares = self.share
        return number < self.upcoming and (number - self.least) % shares == place


class AddressPool:
    """Hands out addresses of CIDRs and takes them back.

    A freed address is used again, the lowest first, before a new one is. A CIDR that is used up
    is continued in `OVERFLOW`, after one warning.
    """

    def __init__(self) -> None:
        self._pools: dict[str, _Pool] = {}
        self._taken: dict[int, _Pool | None] = {}
        self._warned = False
        self._share = _WHOLE

    def divide(self, share: int, shares: int) -> None:
        """Hand out only one share of common CIDRs: other controllers have the others."""
        self._share = (share, shares)

    def __len__(self) -> int:
        return len(self._taken)

    def allocate(self, cidr: str, *, is_common: bool = False) -> str:
        """Hand out a free address of `cidr`, such as "10.0.0.1/24"; ValueError if it is no CIDR.

        Other controllers hand out addresses of a common one, too.
        """
        pool = self._divided_pool(cidr, self._share if is_common else _WHOLE)
        number = self._next(pool)
        if number is None:
            pool, number = self._overflow(pool)
        self._taken[number] = pool
        return _text(number)

    def take(self, address: str, cidrs: Iterable[str] = ()) -> bool:
        """Mark an address that a pod already has; `cidrs` are those of its node.

        False means that it cannot be marked: another pod has it, or it is no address.
        """
        try:
            number = _number(address)
        except ValueError:
            return False
        if number in self._taken:
            return False
        self._taken[number] = self._holder(number, cidrs)
        return True

    def release(self, addresses: Iterable[str]) -> None:
        """Take addresses back; nothing happens for one that is not in use."""
        for address in addresses:
            number = _number(address)
            pool = self._taken.pop(number, None)
            if pool is not None and pool.is_behind(number):
                heapq.heappush(pool.freed, number)

    def _pool(self, cidr: str) -> _Pool:
        pool = self._pools.get(cidr)
        if pool is None:
            number, last = _range(cidr)
            family = 6 if number >= _V6 else 4
            self._pools[cidr] = pool = _Pool(cidr, family, number + 1, last)
        return pool

    def _divided_pool(self, cidr: str, share: tuple[int, int]) -> _Pool:
        pool = self._pool(cidr)
        if pool.share != share:
            pool.divide(share)
        return pool

    def _holder(self, number: int, cidrs: Iterable[str]) -> _Pool | None:
        for cidr in cidrs:
            if (pool := self._pool(cidr)).covers(number):
                return pool
        pool = self._pool(OVERFLOW[6 if number >= _V6 else 4])
        return pool if pool.covers(number) else None

    def _next(self, pool: _Pool) -> int | None:
        taken = self._taken
        while pool.freed:
            number = heapq.heappop(pool.freed)
            if number not in taken:
                return number
        number = pool.upcoming
        _, shares = pool.share
        while number in taken:
            number += shares
        # One that is used up stays so: it must not grow beyond all numbers.
        pool.upcoming = min(number, pool.last) + shares
        return number if number <= pool.last else None

    def _overflow(self, full: _Pool) -> tuple[_Pool, int]:
        if not self._warned:
            self._warned = True
            log.warning(
                "pod addresses of %r are used up: more pods get addresses of %s",
                full.cidr,
                OVERFLOW[full.family],
            )
        pool = self._divided_pool(OVERFLOW[full.family], self._share)
        number = self._next(pool)
        if number is None:
            raise ValueError(f"no pod address is left in {full.cidr!r} and {pool.cidr!r}")
        return pool, number


def _range(cidr: str) -> tuple[int, int]:
    """Return the address that a CIDR is written with, and the last one that a pod may have.

    Each of thousands of nodes has its own: the usual form is read without `ipaddress`, which takes
    ten times as long.
    """
    text, _, bits = cidr.partition("/")
    size = 128 if ":" in text else 32
    if bits.isdecimal() and int(bits) <= size:
        number, prefix = _number(text), int(bits)
    else:
        interface = ip_interface(cidr)
        number, prefix = _number(str(interface.ip)), interface.network.prefixlen
    has_broadcast = size == 32 and prefix < 31
    return number, (number | (1 << size - prefix) - 1) - has_broadcast


def _number(address: str) -> int:
    """Return an address as a number; ValueError if it is not an address."""
    family, shift = (AF_INET6, _V6) if ":" in address else (AF_INET, 0)
    try:
        return int.from_bytes(inet_pton(family, address), "big") + shift
    except OSError as e:
        raise ValueError(f"{address!r} is no address") from e


def _text(number: int) -> str:
    if number >= _V6:
        return inet_ntop(AF_INET6, (number - _V6).to_bytes(16, "big"))
    return f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


class PodIPs:
    """Gives each pod its addresses, the same ones as long as it exists."""

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
        return len(self._pool)

    @property
    def reserved(self) -> int:
        """The number of reserved addresses."""
        return len(self._reserved)

    def divide(self, share: int, shares: int) -> None:
        """Hand out only one share of the addresses that pods of several nodes may get."""
        self._pool.divide(share, shares)

    def families(self, node: str) -> int | None:
        """Return how many addresses a pod of a node has; None if the node is not played here."""
        return len(self._cidrs(node)) if self._nodes.get(node) is not None else None

    def is_held(self, node: str) -> bool:
        """Return whether this controller plays the pods of a node, or will shortly."""
        found = self._nodes.get(node)
        return found is not None and found.hold is not Hold.FOREIGN and not found.is_down

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
            owned = tuple(map(self._allocated, self._cidrs(node)))
            self._owned[uid] = owned
        return owned

    def note(self, uid: str, node: str, addresses: Sequence[str]) -> None:
        """Note the addresses that a pod's status says it has."""
        if uid not in self._owned:
            cidrs = self._cidrs(node)
            self._owned[uid] = tuple([a for a in addresses if self._take(a, cidrs)])

    def release(self, uid: str) -> None:
        """Take back the addresses of a pod that does not exist any more."""
        self._pool.release(self._owned.pop(uid, ()))

    def reserve(self, node: str, number: int, *, until: float) -> list[tuple[str, ...]]:
        """Hand out addresses for a number of pods of a node that `scale` makes.

        Those that no pod has been seen with by the time `until` can be taken back by `expire`.
        """
        cidrs = self._cidrs(node)
        found = [tuple(map(self._allocated, cidrs)) for _ in range(number)]
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

    def _allocated(self, cidr: str) -> str:
        is_common = cidr in self._default or self._nodes.is_common(cidr)
        return self._pool.allocate(cidr, is_common=is_common)

    def _take(self, address: str, cidrs: Sequence[str]) -> bool:
        if self._reserved.pop(address, None) is not None:
            return True
        return self._pool.take(address, cidrs)

    def _cidrs(self, name: str) -> tuple[str, ...]:
        node = self._nodes.get(name)
        return (node.cidrs if node is not None else ()) or self._default
