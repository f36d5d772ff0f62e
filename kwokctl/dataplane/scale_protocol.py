"""What is asked of a running controller by who writes nodes and pods beside it.

`GET /seen` answers a `Seen`; `GET /kubelet` answers a `KubeletEndpoint`; `POST /pod-addresses` with a
`Wanted` answers `Addresses` by the name of the node.
"""

import msgspec

TOGETHER = 10_000
"""Pods for which addresses are asked for at a time."""


class Seen(msgspec.Struct):
    """The resourceVersions to which a controller's watches have come; 0 before they began."""

    nodes: int = 0
    pods: int = 0


class KubeletEndpoint(msgspec.Struct):
    """Where the API server reaches the kubelets of all fake nodes."""

    name: str = ""
    port: int = 0


class Wanted(msgspec.Struct):
    """For how many pods of which nodes addresses are needed."""

    nodes: dict[str, int]


class Addresses(msgspec.Struct):
    """The addresses of a node, and those of new pods on it."""

    hosts: list[str]
    pods: list[list[str]]
    """For each pod its addresses, one of each family that the node has."""
