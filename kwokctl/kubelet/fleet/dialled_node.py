"""Finds the node whose kubelet a client has dialled, by the address."""

from kwokctl.embedded.http.messages import RefusedError, Request
from kwokctl.kubelet.fleet.views import FleetView

# Nodes have internal addresses of the network for measurements, 198.18.0.0/15 (RFC 2544, section C.2.2), which leads
# nowhere: clients cannot dial them. With 127 as its first number such an address is one of this machine.
_INTERNAL, _LOOPBACK = "198.", ("127.18.", "127.19.")


def behind_loopback(address: str) -> str:
    """Return the internal address of the node that answers at a loopback address, if it is of one."""
    if not address.startswith(_LOOPBACK):
        return ""
    return _INTERNAL + address.partition(".")[2]


def dialled_nodes(request: Request, fleet: FleetView) -> list[str]:
    """Return the names of the fake nodes that have the address at which the server was reached."""
    places = (request.local_host, behind_loopback(request.local_host))
    return [node.name for place in places if place for node in fleet.nodes_at(place)]


def node_at(request: Request, fleet: FleetView, by_name: str) -> str:
    """Return the name of the only one; RefusedError says that `by_name` is a path that names the node."""
    nodes = dialled_nodes(request, fleet)
    if len(nodes) != 1:
        problem = f"{len(nodes)} fake nodes have the address '{request.local_host}'"
        raise RefusedError(404, f"{problem}: name one, as in {by_name}")
    return nodes[0]
