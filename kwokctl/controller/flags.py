"""The flags of the controller: the original's, and those for access to etcd."""

import argparse
from collections.abc import Callable
from pathlib import Path

from kwokctl import __version__
from kwokctl.embedded.flag_parser import SWITCH, FlagParser, RefusedFlag, log_level, switch, whole
from kwokctl.expr.duration import parse_duration

NO_TRACING = "leave it out: no spans are exported; /metrics counts what is written"


def parser() -> FlagParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = FlagParser(
        prog="kwok",
        allow_abbrev=False,
        conflict_handler="resolve",  # the command `kwok` has more to say of some flags
        description="Acts as the kubelet of fake nodes: nodes become Ready, pods run and end, as "
        "Stage documents define.",
    )
    add = made.add_argument
    add("--kubeconfig", help="how to reach the cluster (default: ~/.kube/config if it exists)")
    add("--master", default="", help="address of the API server; overrides that of the kubeconfig")
    add("-c", "--config", action="append", default=[], help="file of documents; may be repeated")
    add("--manage-all-nodes", dest="manageAllNodes", **SWITCH, help="manage every node")
    add("--manage-single-node", dest="manageSingleNode", help="manage one node, by name")
    add("--manage-nodes-with-annotation-selector", dest="manageNodesWithAnnotationSelector",
        metavar="SELECTOR", help="manage the nodes whose annotations match")  # fmt: skip
    add("--manage-nodes-with-label-selector", dest="manageNodesWithLabelSelector",
        metavar="SELECTOR", help="manage the nodes whose labels match")  # fmt: skip
    add("--disregard-status-with-annotation-selector", help=argparse.SUPPRESS,
        dest="disregardStatusWithAnnotationSelector")  # fmt: skip
    add("--disregard-status-with-label-selector", help=argparse.SUPPRESS,
        dest="disregardStatusWithLabelSelector")  # fmt: skip
    add("--cidr", help="CIDR of pods on nodes without a pod CIDR (default: 10.0.0.0/24)")
    add("--node-ip", dest="nodeIP", help="IP address of nodes that have none")
    add("--node-name", dest="nodeName", help="host name of nodes that have none")
    add("--node-port", dest="nodePort", type=whole, help="kubelet port in the status of nodes")
    add("--kubelet-address", default="",
        help="address at which the API server reaches the kubelet of every node; written to the status of nodes")  # fmt: skip
    add("--server-address", dest="serverAddress", help="host:port for health and metrics")
    add("--server-token-file", type=Path,
        help="file for a new token, which clients must send for everything but health; without this flag only health is served")  # fmt: skip
    add("--fleet-metrics", default="", metavar="URL",
        help="address of a kubelet server: its metrics and discovery, and the controller's own metrics, are served here to every client, as in the original")  # fmt: skip
    _add_parallelism(add)
    _add_leases(add)
    _add_etcd(add)
    add("--tls-cert-file", dest="tlsCertFile", help=argparse.SUPPRESS)
    add("--tls-private-key-file", dest="tlsPrivateKeyFile", help=argparse.SUPPRESS)
    _add_documents(add)
    add("--pods", choices=("stages", "kubelet"), default="stages",
        help="what drives pods: Stages, or the rules of a kubelet, with restarts, back-off and sidecars (default: stages)")  # fmt: skip
    for name in ("--tracing-endpoint", "--tracing-sampling-rate-per-million"):
        add(name, action=RefusedFlag, remedy=NO_TRACING,
            help="not supported: no spans are exported")  # fmt: skip
    add("-v", "--v", type=log_level, default=0, help="log level: a number or a name")
    add(
        "--version",
        action="version",
        version=f"kwok version {__version__}",
        help="print the version and exit",
    )
    return made


def _add_documents(add: Callable[..., object]) -> None:
    """Add the flags for what is read from the cluster beside nodes and pods."""
    add("--enable-crds", action="append", default=[], metavar="KIND,…",
        help="kinds of documents to read from the cluster, too, as custom resources: Stage")  # fmt: skip
    add("--dialect-heartbeats", type=parse_duration, default=0.0, metavar="DURATION",
        help="how often to renew the heartbeat times of the conditions of --fault-dialects; needs a data path to etcd (default: never)")  # fmt: skip
    add("--fault-dialects", default="", metavar="DIALECT,…",
        help="dialects that show faults which name no dialect (default: npd,device-plugin)")  # fmt: skip


def _add_parallelism(add: Callable[..., object]) -> None:
    """Add the flags for how much is done at once."""
    add("--node-play-stage-parallelism", dest="nodePlayStageParallelism", type=whole,
        help="how many nodes to write in parallel; 0 for the default")  # fmt: skip
    add("--pod-play-stage-parallelism", dest="podPlayStageParallelism", type=whole,
        help="how many pods to write in parallel; 0 for the default")  # fmt: skip


def _add_leases(add: Callable[..., object]) -> None:
    """Add the flags for the leases of nodes, which say which controller has which node."""
    add("--node-lease-duration-seconds", dest="nodeLeaseDurationSeconds", type=whole,
        help="how long a node's lease lasts; 0 for no leases")  # fmt: skip
    add("--holder-identity", default="",
        help="holder of the nodes' leases: a name that no other controller has, or '{node}' for the name of each node, as with kubelets; with the same name a restarted controller takes over its leases at once")  # fmt: skip
    add("--share-nodes", dest="share_nodes", **SWITCH,
        help="share the nodes evenly with all controllers that select them (default: true, unless --holder-identity or --manage-single-node is given)")  # fmt: skip


def _add_etcd(add: Callable[..., object]) -> None:
    """Add the flags for writes to the cluster's etcd."""
    add("--data-path", choices=("api", "auto", "etcd"), default="api",
        help="where to write statuses and leases: to the API server (api), to etcd (etcd), or to etcd unless that would bypass admission (auto)")  # fmt: skip
    add("--etcd-endpoint", default="", help="etcd of the cluster: unix:PATH or HOST:PORT")
    add(
        "--etcd-cafile",
        type=Path,
        help="CA of etcd's certificate; without it connections have no TLS",
    )
    add("--etcd-certfile", type=Path, help="client certificate for etcd")
    add("--etcd-keyfile", type=Path, help="key of the client certificate")
    add("--etcd-prefix", default="/registry", help="prefix of all keys in etcd")
    add("--managed-fields", type=switch, default=True, metavar="BOOL",
        help="maintain metadata.managedFields of statuses that are written to etcd (default: true)")  # fmt: skip
