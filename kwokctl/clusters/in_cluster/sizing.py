"""Computes the replicas for a fleet, and the memory of each, from the figures of `scaling-out.md`."""

from math import ceil

import msgspec

PODS_ON_NODE = 10
"""The default number of pods on a node."""
_RENEWAL = 0.11e-3
"""Seconds of processor time."""
_RENEWALS_A_LEASE = 4
_BUSY = 0.5
"""The part of its one processor that a replica may use for renewals: pods that start come on top."""
_BASE, _NODE, _POD, _LIVING_POD = 60_000_000, 10_000, 4_200, 46_000
"""Bytes of a replica: for itself, and for each node and pod of the whole fleet; for a pod that lives as
on a kubelet more."""
_MEBIBYTE = 1 << 20
_STEP, _LEAST_REQUEST, _LEAST_LIMIT = 64, 256, 1024
"""In mebibytes."""


class Size(msgspec.Struct, frozen=True, kw_only=True):
    """Of a Deployment; memory in mebibytes."""

    replicas: int = 1
    memory_request: int = _LEAST_REQUEST
    memory_limit: int = _LEAST_LIMIT


USUAL = Size()


def size_for(nodes: int, pods: int, *, lease_seconds: int, has_kubelet_pods: bool) -> Size:
    """Return the size for a fleet of this number of nodes and pods."""
    pod = _LIVING_POD if has_kubelet_pods else _POD
    needed = (_BASE + nodes * _NODE + pods * pod) / _MEBIBYTE
    memory = ceil(needed / _STEP) * _STEP
    return Size(
        replicas=_replicas(nodes, lease_seconds),
        memory_request=max(memory, _LEAST_REQUEST),
        memory_limit=max(memory, _LEAST_LIMIT),
    )


def _replicas(nodes: int, lease_seconds: int) -> int:
    """Return how many do all renewals, and one more, since one may be gone.

    Without leases nodes cannot be shared: each of several replicas would write to all of them.
    """
    if not lease_seconds:
        return 1
    renewals = nodes * _RENEWALS_A_LEASE / lease_seconds
    return ceil(renewals * _RENEWAL / _BUSY) + 1
