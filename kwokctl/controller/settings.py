"""What the controller is told: flags, and the documents of its configuration files."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kwokctl import __version__
from kwokctl.config.documents import Document, load_documents
from kwokctl.controller.functions import Kubelet
from kwokctl.controller.selection import Selection, select
from kwokctl.controller.server import parse_address
from kwokctl.controller.stage_reader import read_stages
from kwokctl.controller.stages import Stage
from kwokctl.errors import ConfigError, NotServedError, UsageError
from kwokctl.progress import Progress

_DEFAULTS: dict[str, Any] = {
    "kubeconfig": "",
    "cidr": "10.0.0.0/24",
    "nodeIP": "",
    "nodeName": "",
    "nodePort": 0,
    "tlsCertFile": "",
    "tlsPrivateKeyFile": "",
    "manageSingleNode": "",
    "manageAllNodes": False,
    "manageNodesWithAnnotationSelector": "",
    "manageNodesWithLabelSelector": "",
    "disregardStatusWithAnnotationSelector": "",
    "disregardStatusWithLabelSelector": "",
    "serverAddress": "",
    "nodeLeaseDurationSeconds": 0,
    "podPlayStageParallelism": 0,
    "nodePlayStageParallelism": 0,
    "nodeLeaseParallelism": 0,
    "podsOnNodeSyncParallelism": 0,
}
_IGNORED = frozenset(
    {
        "enableContentionProfiling",
        "enableDebuggingHandlers",
        "enablePodsOnNodeSyncListPager",
        "enablePodsOnNodeSyncStreamWatch",
        "enableProfilingHandler",
    }
)
"""Options of KwokConfiguration that change nothing about what fake nodes and pods do."""
_SERVED_ELSEWHERE = frozenset({"KwokctlConfiguration", "KwokctlResource", "Stage"})
"""Documents that need no word when they are found beside the Stages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """How many objects are worked on at once; 0 in a configuration means these defaults."""

    pods: int = 64
    nodes: int = 64
    leases: int = 16
    syncs: int = 4
    others: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdAccess:
    """How to reach the cluster's etcd, for writes past the API server."""

    endpoint: str
    """`unix:/…/etcd.sock`, or host:port with the files of `tls`."""
    prefix: str
    insists: bool
    """Whether webhooks and policies are passed by, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything the controller is told."""

    kubeconfig: Path | None
    master: str
    selection: Selection
    stages: tuple[Stage, ...]
    cidr: str
    kubelet: Kubelet
    server: tuple[str, int] | None
    """Host and port to answer on; None for no server."""
    lease_seconds: int
    """0 for no leases."""
    holder_identity: str
    """Empty for a name that nobody else has."""
    verbosity: int
    etcd: EtcdAccess | None = None
    """None to write through the API only."""
    parallelism: Parallelism = field(default_factory=Parallelism)


def read_settings(argv: Sequence[str], progress: Progress) -> Settings:
    """Read flags and configuration files; a flag wins over a file, a later file over an earlier.

    Raises UsageError and ConfigError that say what is wrong and where.
    """
    flags = _parser().parse_args(argv)
    documents = load_documents(flags.config, progress=progress)
    options = _options(documents, progress)
    for name in _DEFAULTS:
        given = getattr(flags, name, None)
        if given is not None:
            options[name] = given
    if flags.enable_crds or options.get("enableCRDs"):
        raise NotServedError(
            "Stages that are custom resources are not served yet",
            hint="give them as documents with --config, and leave out --enable-crds",
        )
    stages = read_stages(documents)
    if not stages:
        raise ConfigError(
            "there is no Stage: nothing would happen to any node or pod",
            hint="give a file with Stage documents with --config",
        )
    return _settings(flags, options, stages)


def _settings(
    flags: argparse.Namespace, options: dict[str, Any], stages: tuple[Stage, ...]
) -> Settings:
    port = options["nodePort"]
    address = options["serverAddress"] or (f"0.0.0.0:{port}" if port else "")
    defaults = Parallelism()
    return Settings(
        kubeconfig=Path(options["kubeconfig"]).expanduser() if options["kubeconfig"] else None,
        master=flags.master,
        selection=select(
            all_nodes=options["manageAllNodes"],
            single_node=options["manageSingleNode"],
            annotation_selector=options["manageNodesWithAnnotationSelector"],
            label_selector=options["manageNodesWithLabelSelector"],
            disregard_annotation_selector=options["disregardStatusWithAnnotationSelector"],
            disregard_label_selector=options["disregardStatusWithLabelSelector"],
        ),
        stages=stages,
        cidr=options["cidr"],
        kubelet=Kubelet(ip=options["nodeIP"], name=options["nodeName"], port=port),
        server=parse_address(address) if address else None,
        lease_seconds=options["nodeLeaseDurationSeconds"],
        holder_identity=flags.holder_identity,
        etcd=_etcd(flags),
        verbosity=flags.v,
        parallelism=Parallelism(
            pods=options["podPlayStageParallelism"] or defaults.pods,
            nodes=options["nodePlayStageParallelism"] or defaults.nodes,
            leases=options["nodeLeaseParallelism"] or defaults.leases,
            syncs=options["podsOnNodeSyncParallelism"] or defaults.syncs,
        ),
    )


def _etcd(flags: argparse.Namespace) -> EtcdAccess | None:
    if flags.data_path == "api":
        return None
    if not flags.etcd_endpoint:
        raise UsageError(
            f"--data-path {flags.data_path} needs an etcd to write to",
            hint="give its address with --etcd-endpoint, or take --data-path api",
        )
    insists = flags.data_path == "etcd"
    return EtcdAccess(endpoint=flags.etcd_endpoint, prefix=flags.etcd_prefix, insists=insists)


def _options(documents: Sequence[Document], progress: Progress) -> dict[str, Any]:
    """Merge the options of every KwokConfiguration; what is not served is told in a line."""
    options = dict(_DEFAULTS)
    ignored: dict[str, None] = {}
    for document in documents:
        if document.kind != "KwokConfiguration":
            if document.kind not in _SERVED_ELSEWHERE:
                ignored[document.kind] = None
            continue
        for name, value in (document.body.get("options") or {}).items():
            if name == "enableCRDs" or name in _DEFAULTS:
                options[name] = _checked(document, name, value)
            elif name not in _IGNORED:
                raise document.fault(f"options.{name}", "is not an option of the controller")
    for kind in ignored:
        progress.note(f"documents of kind '{kind}' are not served yet and are left out")
    return options


def _checked(document: Document, name: str, value: Any) -> Any:
    wanted = type(_DEFAULTS.get(name, []))
    if value is None:
        return _DEFAULTS.get(name, [])
    if type(value) is not wanted:
        raise document.fault(f"options.{name}", f"must be of type {wanted.__name__}")
    return value


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise UsageError(message, hint="--help lists all flags")


def _switch(text: str) -> bool:
    if text.lower() in {"true", "1", "t"}:
        return True
    if text.lower() in {"false", "0", "f"}:
        return False
    raise argparse.ArgumentTypeError(f"'{text}' is neither true nor false")


def _level(text: str) -> int:
    names = {"debug": 4, "info": 0, "warn": -1, "warning": -1, "error": -2}
    head, sign, tail = text.lower().partition("+") if "+" in text else (text.lower(), "", "")
    if head in names:
        return names[head] + (int(tail) if sign and tail.isdecimal() else 0)
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is no log level") from None


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="kwok",
        allow_abbrev=False,
        description="Plays the kubelets of fake nodes: nodes become Ready, pods run and end, "
        "as Stage documents say.",
    )
    add = parser.add_argument
    switch: dict[str, Any] = {"type": _switch, "nargs": "?", "const": True, "metavar": "BOOL"}
    add("--kubeconfig", help="how to reach the cluster (default: ~/.kube/config if it exists)")
    add("--master", default="", help="address of the API server, instead of the kubeconfig's")
    add("-c", "--config", action="append", default=[], help="file of documents; may be repeated")
    add("--manage-all-nodes", dest="manageAllNodes", **switch, help="play every node")
    add("--manage-single-node", dest="manageSingleNode", help="play one node, by name")
    add("--manage-nodes-with-annotation-selector", dest="manageNodesWithAnnotationSelector")
    add("--manage-nodes-with-label-selector", dest="manageNodesWithLabelSelector")
    add("--disregard-status-with-annotation-selector", help=argparse.SUPPRESS,
        dest="disregardStatusWithAnnotationSelector")  # fmt: skip
    add("--disregard-status-with-label-selector", help=argparse.SUPPRESS,
        dest="disregardStatusWithLabelSelector")  # fmt: skip
    add("--cidr", help="addresses of pods on nodes without a pod CIDR (default: 10.0.0.0/24)")
    add("--node-ip", dest="nodeIP", help="address of nodes that have none")
    add("--node-name", dest="nodeName", help="host name of nodes that have none")
    add("--node-port", dest="nodePort", type=int, help="kubelet port that nodes tell")
    add("--server-address", dest="serverAddress", help="host:port for health and metrics")
    add("--node-lease-duration-seconds", dest="nodeLeaseDurationSeconds", type=int,
        help="how long a node's lease lasts; 0 for no leases")  # fmt: skip
    add("--holder-identity", default="",
        help="name under which leases are held, if no other controller has it; a restarted one goes on with them at once")  # fmt: skip
    add("--data-path", choices=("api", "auto", "etcd"), default="api",
        help="how statuses and leases are written: through the API, or past it where nothing is skipped (auto) or in any case (etcd)")  # fmt: skip
    add("--etcd-endpoint", default="", help="etcd of the cluster: unix:PATH or HOST:PORT")
    add("--etcd-prefix", default="/registry", help="prefix of all keys in etcd")
    add("--tls-cert-file", dest="tlsCertFile", help="certificate of the server")
    add("--tls-private-key-file", dest="tlsPrivateKeyFile", help="key of the server")
    add("--enable-crds", action="append", default=[], help=argparse.SUPPRESS)
    add("--tracing-endpoint", help=argparse.SUPPRESS)
    add("--tracing-sampling-rate-per-million", type=int, help=argparse.SUPPRESS)
    add("-v", "--v", type=_level, default=0, help="how much is logged: a number or a name")
    add("--version", action="version", version=f"kwok version {__version__}")
    return parser
