"""Parts the addresses of pods between the real nodes, as a controller-manager would. Pure."""

from collections.abc import Iterable, Mapping
from ipaddress import ip_network

_BITS = {4: 24, 6: 64}
"""How long the prefix of one node's network is, by the version of IP."""


def pod_networks(subnets: str, nodes: Iterable[str]) -> Mapping[str, list[str]]:
    """Return each node's networks, one of each of the comma-separated `subnets`."""
    wholes = [ip_network(subnet.strip()) for subnet in subnets.split(",")]
    parts = [
        whole.subnets(new_prefix=max(_BITS[whole.version], whole.prefixlen)) for whole in wholes
    ]
    return {
        name: [str(network) for network in networks]
        for name, *networks in zip(sorted(nodes), *parts, strict=False)
    }
