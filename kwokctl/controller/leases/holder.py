"""The names of the holders of leases, for controllers that share nodes, and the label of such leases.

One watch with this label as its selector shows who the members are and which leases have changed
hands, and none of the renewals.
"""

import os
import socket
import uuid
from collections.abc import Mapping

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


LABEL = "kwokctl.dev/lease"
"""The values are those below; a node's lease has it from its change of hands to its next renewal."""
MOVED = "moved"
"""Of a node's lease."""
MEMBER = "member"
"""Of the lease that shows that a controller lives."""
OTHER_KINDS = "other-kinds"
"""Of the lease of the one member that plays kinds other than nodes and pods."""

POD_UID = "POD_UID"
"""The variable in which a manifest gives a controller the uid of its pod."""


def own_identity(environ: Mapping[str, str] = os.environ) -> str:
    """Return a name that no other controller has: the uid of its pod, or one like "host_uuid".

    A container that is started again in its pod keeps its name, and with that its leases.
    """
    return environ.get(POD_UID, "") or f"{socket.gethostname()}_{uuid.uuid4()}"
