"""Counts on in networks and addresses, for templates that give every copy its own."""

from ipaddress import ip_address, ip_network

from kwokctl.errors import ExpressionError


def add_cidr(cidr: str, count: int) -> str:
    """Return the network of the same size that lies `count` networks after `cidr`.

    Counting is plain: the 65,536th /24 after 10.0.0.0/24 is 11.0.0.0/24. It never starts over, so
    no two counts give the same network; ExpressionError is raised where the addresses end.
    """
    try:
        network = ip_network(cidr, strict=False)
    except ValueError as e:
        raise ExpressionError(f"AddCIDR: '{cidr}' is not a network such as 10.0.0.0/24") from e
    start = int(network.network_address) + _whole(count, "AddCIDR") * network.num_addresses
    if not 0 <= start < 1 << network.max_prefixlen:
        raise ExpressionError(
            f"AddCIDR: there are no {count} networks of the size of '{cidr}' after it",
            hint="start from a lower network, or use smaller ones, with --param",
        )
    return f"{type(network.network_address)(start)}/{network.prefixlen}"


def add_ip(address: str, count: int) -> str:
    """Return the address that lies `count` addresses after `address`.

    Raises ExpressionError where the addresses end.
    """
    try:
        first = ip_address(address)
    except ValueError as e:
        raise ExpressionError(f"AddIP: '{address}' is not an address such as 192.0.2.1") from e
    moved = int(first) + _whole(count, "AddIP")
    if not 0 <= moved < 1 << first.max_prefixlen:
        raise ExpressionError(
            f"AddIP: there are no {count} addresses after '{address}'",
            hint="start from a lower address with --param",
        )
    return str(type(first)(moved))


def _whole(count: object, function: str) -> int:
    if not isinstance(count, int) or isinstance(count, bool):
        raise ExpressionError(f"{function}: '{count}' is not a whole number")
    return count
