"""The lines of the fleet: nodes, what others request of them, and what happens to pods against their will."""

from kwokctl.measure.record.line import Line

ZONE = "topology.kubernetes.io/zone"
"""The label of nodes of which values are always recorded."""


class NodeSeen(Line, tag="n"):
    """A node is seen for the first time."""

    time: int
    number: int
    name: str
    listed: bool
    """Whether it comes from a list: then it may have been there for long."""
    allocatable: int
    """The text with its allocatable resources, such as `cpu=64,nvidia.com/gpu=8,pods=110`."""
    labels: int
    """The text with those labels that are recorded, such as `rack=r1,topology.kubernetes.io/zone=a`."""
    taints: int
    """The text with its taints, such as `node.kubernetes.io/not-ready:NoExecute`."""
    ready: bool
    cordoned: bool
    place: int = 0
    """The text with its place in a fleet of kwokctl, such as `rack=dgx-rack-0003,leaf=dgx-leaf-0000`."""
    conditions: int = 0
    """The text with the status of each of its conditions, such as `GpuMissing=True,Ready=True`; 0 in a record before version 4."""


class NodeChange(Line, tag="N"):
    """A node has changed: what it is like now."""

    time: int
    number: int
    allocatable: int
    labels: int
    taints: int
    ready: bool
    cordoned: bool
    conditions: int = 0


class NodeGone(Line, tag="X"):
    """A node exists no longer."""

    time: int
    number: int


class OtherRequests(Line, tag="r"):
    """The sum of what pods that are not recorded request of a node: those that were there before."""

    time: int
    node: str
    pods: int
    requests: int
    """The text with the sum."""
    movable: int | None = None
    """The number of them that a drain removes: those that belong to no DaemonSet, and are no mirror pods; None in a record before version 4."""


class PodInterruption(Line, tag="e"):
    """Containers of a pod were restarted, or it is to end before its time."""

    time: int
    number: int
    """Of the pod; 0 if that is not recorded."""
    restarts: int
    """The number of containers' restarts; 0 if the pod is to end."""
    reason: int
    """The text why: of the containers' last ends, or of the pod's end."""
    node: int = 0
    """The text with the name of its node; 0 in a record before version 4."""
    devices: int = 0
    """The text with the identifiers of its devices if it was evicted, separated by commas; `none` if it asks for none, 0 if they are not known."""


FleetLines = NodeSeen | NodeChange | NodeGone | OtherRequests | PodInterruption
