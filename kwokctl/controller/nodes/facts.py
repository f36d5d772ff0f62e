"""The properties of a node that decide which pods it takes, and those that its kubelet reports."""

import msgspec

DOWN = "node-not-ready.stage.kwok.x-k8s.io"
"""The label of the Stage `node-not-ready`: the kubelet of a node that has it, and is not Ready, is down."""


class NodeFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Kept as JSON: there may be a hundred thousand nodes, and few pods ask."""

    labels: bytes = b"{}"
    allocatable: bytes = b"{}"
    lacks: bool = False
    """Whether its capacity has a resource that is not allocatable."""
    taints: tuple[tuple[str, str], ...] = ()
    """Key and value of those with the effect NoExecute."""
    operating_system: str = "linux"
    pressure: str = ""
    """The annotation that says what it is short of."""
    conditions: tuple[str, ...] = ()
    """The types of its conditions that are True."""
    reported: tuple[str, ...] = ()
    """Those of them that are a pressure in the words of a kubelet."""


NO_FACTS = NodeFacts()
