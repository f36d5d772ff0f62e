"""Counts on in networks and addresses, for templates that give every copy its own.

Tens of thousands of copies count from the same few starts: each is read once, and counting is done
with plain integers.
"""

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from socket import AF_INET6, inet_ntoa, inet_ntop

from kwokctl.errors import ExpressionError


@dataclass(frozen=True, slots=True)
class _Start:
    """Where counting begins."""

    address: int
    step: int
    """How many addresses further the next one lies."""
    end: int
    """How many addresses there are."""
    version: int
    suffix: str = ""

    def moved(self, count: int) -> str | None:
        """Return what lies `count` steps further, None where the addresses end."""
        address = self.address + count * self.step
        if not 0 <= address < self.end:
            return None
        return _written(address, self.version) + self.suffix


def add_cidr(cidr: str, count: int) -> str:
    """Return the network of the same size that lies `count` networks after `cidr`.

    Counting is plain: the 65,536th /24 after 10.0.0.0/24 is 11.0.0.0/24. It never starts over, so
    no two counts give the same network; ExpressionError is raised where the addresses end.
    """
    moved = _network(str(cidr)).moved(_whole(count, "AddCIDR"))
    if moved is None:
        raise ExpressionError(
            f"AddCIDR: there are no {count} networks of the size of '{cidr}' after it",
            hint="start from a lower network, or use smaller ones, with --param",
        )
    return moved


def add_ip(address: str, count: int) -> str:
    """Return the address that lies `count` addresses after `address`.

    Raises ExpressionError where the addresses end.
    """
    moved = _address(str(address)).moved(_whole(count, "AddIP"))
    if moved is None:
        raise ExpressionError(
            f"AddIP: there are no {count} addresses after '{address}'",
            hint="start from a lower address with --param",
        )
    return moved


@lru_cache(maxsize=256)
def _network(cidr: str) -> _Start:
    try:
        network = ip_network(cidr, strict=False)
    except ValueError as e:
        raise ExpressionError(f"AddCIDR: '{cidr}' is not a network such as 10.0.0.0/24") from e
    return _Start(
        address=int(network.network_address),
        step=network.num_addresses,
        end=1 << network.max_prefixlen,
        version=network.version,
        suffix=f"/{network.prefixlen}",
    )


@lru_cache(maxsize=256)
def _address(address: str) -> _Start:
    try:
        first = ip_address(address)
    except ValueError as e:
        raise ExpressionError(f"AddIP: '{address}' is not an address such as 192.0.2.1") from e
    return _Start(address=int(first), step=1, end=1 << first.max_prefixlen, version=first.version)


def _written(address: int, version: int) -> str:
    if version == 4:
        return inet_ntoa(address.to_bytes(4, "big"))
    if address >> 96:
        return inet_ntop(AF_INET6, address.to_bytes(16, "big"))
    return str(IPv6Address(address))  # libraries differ in those that hold an IPv4 address


def _whole(count: object, function: str) -> int:
    if not isinstance(count, int) or isinstance(count, bool):
        raise ExpressionError(f"{function}: '{count}' is not a whole number")
    return count
