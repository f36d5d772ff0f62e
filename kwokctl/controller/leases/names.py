"""The names under which a controller holds the leases of nodes."""

from kwokctl.dataplane.leases.decode import StoredLease

NODE_NAME = "{node}"
"""Stands for the name of the node, which is the holder of the lease that a kubelet keeps."""
_FORMER = "kwok-controller"
"""The holder in clusters, and snapshots of them, from before their controller held leases as kubelets do."""


def own_name(holder: str, node: str) -> str:
    """Return who holds the lease of a node."""
    return node if holder == NODE_NAME else holder


def is_own(lease: StoredLease, holder: str) -> bool:
    """Return whether a lease is held by the controller that holds leases as `holder`."""
    if holder == NODE_NAME:
        return lease.holder in (lease.name, _FORMER)
    return lease.holder == holder
