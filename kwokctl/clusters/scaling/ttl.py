"""The annotation by which kube-controller-manager tells kubelets how long to cache secrets.

Its TTL controller writes on every node a value that grows with the number of nodes, in one more
write for each node that has another value. A node that is born with the right value saves it.
"""

from bisect import bisect_left
from typing import Any

ANNOTATION = "node.alpha.kubernetes.io/ttl"

_UP_TO = (100, 500, 1000, 2000, 10000)
"""Nodes; while a cluster grows it passes to the next value when it has more than these."""
_SECONDS = ("0", "15", "30", "60", "300", "600")


def seconds_for(nodes: int) -> str:
    """Return the value for the node that makes a growing cluster have this many `nodes`."""
    return _SECONDS[bisect_left(_UP_TO, nodes)]


def stamp(node: dict[str, Any], nodes: int) -> None:
    """Annotate the node that makes the cluster have this many `nodes`, if it is annotated at all."""
    annotations = node["metadata"].get("annotations")
    if annotations and ANNOTATION in annotations:
        annotations[ANNOTATION] = seconds_for(nodes)
