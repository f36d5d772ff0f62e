"""The options of fake nodes and of the pods on them, each declared once."""

from dataclasses import dataclass

from kwokctl.config.declaring import NODES, option


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectOptions:
    """The nodes and pods of a new cluster."""

    nodes: int = option(
        0,
        "Nodes to create with the cluster, as 'scale node' does; none is deleted from a cluster "
        "that exists",
        group=NODES,
        metavar="N",
    )
    pods: int = option(
        0, "Pods to create after the nodes, as 'scale pod' does", group=NODES, metavar="N"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatOptions:
    """Options for the heartbeats of fake nodes, and for the detection of lost nodes."""

    kind: str = option(
        "",
        "Heartbeats of fake nodes: real (as often as kubelets), stretched (by the factor) or off "
        "(no heartbeats, and nodes stay Ready without them) [default: real with the data path etcd if "
        "no time is given, else stretched]",
        group=NODES,
        metavar="KIND",
        name="node_heartbeat",
        choices=("real", "stretched", "off"),
        original="stretched",
    )
    lease_duration_seconds: int = option(
        40,
        "How long a node's lease lasts, before the factor",
        group=NODES,
        name="node_lease_duration_seconds",
        env="",
        metavar="SECONDS",
        within=(0, 1_000_000),
    )
    status_update_frequency_milliseconds: int = option(
        10_000,
        "How often a node's status is refreshed, before the factor",
        group=NODES,
        name="node_status_update_frequency_milliseconds",
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    monitor_period_milliseconds: int = option(
        5_000,
        "How often nodes are checked, before the factor",
        group=NODES,
        name="kube_controller_manager_node_monitor_period_milliseconds",
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    monitor_grace_period_milliseconds: int = option(
        40_000,
        "How long a node may send no heartbeat before it becomes NotReady, before the factor",
        group=NODES,
        name="kube_controller_manager_node_monitor_grace_period_milliseconds",
        flag="",
        env="",
        within=(0, 1_000_000_000),
    )
    factor: float = option(
        5,
        "Factor that multiplies every heartbeat time, such as 2.5; 0 or 1 turns that off",
        group=NODES,
        name="heartbeat_factor",
        env="",
        metavar="N",
        within=(0, 1000),
    )
