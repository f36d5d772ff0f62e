"""The settings of the controller: flags, and the documents of its configuration files."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.config.config_documents import Document, load_documents
from kwokctl.controller import configuration
from kwokctl.controller.configuration import DEFAULTS, given_options, idle_options
from kwokctl.controller.documents.program_documents import read_programs
from kwokctl.controller.flags import parser
from kwokctl.controller.leases.holder import NODE_NAME
from kwokctl.controller.lifecycle.containers.find_program import ProgramRules
from kwokctl.controller.stages.compiled_stage import POD, Stage
from kwokctl.controller.stages.lives import LIFE, STAGES
from kwokctl.controller.stages.rivals import read_shipped
from kwokctl.controller.stages.stage_functions import Kubelet
from kwokctl.controller.stages.stage_reader import read_stages
from kwokctl.embedded.flag_parser import parse_address
from kwokctl.embedded.selection import Selection, select
from kwokctl.errors import ConfigError, UsageError
from kwokctl.etcd.member import EtcdTarget
from kwokctl.faults.classes.dialect_names import check_dialect
from kwokctl.host.paths import expanded
from kwokctl.json_value import Json
from kwokctl.progress import Progress
from kwokctl.replacing import replace


class Parallelism(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of objects that are played in parallel; 0 in a configuration means these defaults."""

    pods: int = 64
    nodes: int = 64
    leases: int = 16
    syncs: int = 4
    others: int = 16


class EtcdAccess(msgspec.Struct, frozen=True, kw_only=True):
    """The cluster's etcd, for writes past the API server."""

    target: EtcdTarget
    prefix: str
    insists: bool
    """Whether webhooks and policies are bypassed, too."""
    managed_fields: bool = True
    """Whether `metadata.managedFields` of what goes to etcd is kept up to date."""


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of the controller."""

    kubeconfig: Path | None
    master: str
    selection: Selection
    selecting: Mapping[str, str | bool] = msgspec.field(default_factory=dict)
    """The same as `select` takes it."""
    stages: tuple[Stage, ...]
    stage_documents: tuple[dict[str, Json], ...] = ()
    """The documents from which the Stages were read."""
    custom_kinds: frozenset[str] = frozenset()
    """Kinds of documents that are read from the cluster, too."""
    has_kubelet_pods: bool = False
    """Whether pods follow the rules of a kubelet, and not by Stages."""
    fault_dialects: tuple[str, ...] = ()
    """The dialects of faults that name none; empty for the usual ones."""
    dialect_heartbeats: float = 0.0
    """Seconds between heartbeats of the conditions of these dialects; 0 for none."""
    shows_devices: bool = True
    """Whether the API server keeps the devices in the statuses of containers."""
    programs: ProgramRules = ()
    """The programs of those pods' containers, by image and command."""
    cidr: str
    kubelet: Kubelet
    server: tuple[str, int] | None
    """Host and port to answer on; None for no server."""
    server_token_file: Path | None = None
    """The file for the token that gives its owner every right; None for no such token."""
    fleet_metrics: str = ""
    """The URL of a kubelet server whose metrics are served here, too, without a credential."""
    lease_seconds: int
    """0 for no leases."""
    holder_identity: str
    """Empty for a name that no other controller has."""
    shares: bool = False
    """Whether the nodes are divided among all controllers that select them."""
    verbosity: int
    etcd: EtcdAccess | None = None
    """None to write through the API only."""
    parallelism: Parallelism = msgspec.field(default_factory=Parallelism)


_SELECTING = {
    "all_nodes": "manageAllNodes",
    "single_node": "manageSingleNode",
    "annotation_selector": "manageNodesWithAnnotationSelector",
    "label_selector": "manageNodesWithLabelSelector",
    "disregard_annotation_selector": "disregardStatusWithAnnotationSelector",
    "disregard_label_selector": "disregardStatusWithLabelSelector",
}
"""The parameters of `select`, and the options that give them."""


def read_settings(argv: Sequence[str], progress: Progress) -> Settings:
    """Read flags and configuration files; a flag overrides a file, a later file an earlier one.

    Raises UsageError and ConfigError that say what is wrong and where.
    """
    flags = parser().parse_args(argv)
    return settings_of(flags, load_documents(flags.config, progress=progress), progress)


def options_of(flags: argparse.Namespace, documents: Sequence[Document]) -> dict[str, Json]:
    """Return every option of the controller; a flag overrides the documents."""
    options = {**DEFAULTS, **given_options(documents)}
    for name in DEFAULTS:
        given = getattr(flags, name, None)
        if given is not None:
            options[name] = _checked(name, given)
    return options


def custom_kinds_of(flags: argparse.Namespace, options: Mapping[str, Json]) -> frozenset[str]:
    """Return the kinds of documents that are custom resources; UsageError for an invalid one."""
    flagged = [kind for words in flags.enable_crds for kind in words.split(",") if kind]
    kinds = frozenset([*flagged, *map(str, options["enableCRDs"])])
    configuration.check_custom_kinds(kinds)
    return kinds


def _dialects(words: str) -> tuple[str, ...]:
    """Return the names of dialects; UsageError for an unknown one."""
    names = tuple(filter(None, words.split(",")))
    for name in names:
        if (invalid := check_dialect(name)) is not None:
            raise UsageError(
                f"'--fault-dialects' is '{name}', {invalid.problem}", hint=invalid.hint
            )
    return names


def settings_of(
    flags: argparse.Namespace, documents: Sequence[Document], progress: Progress
) -> Settings:
    """Return what flags and documents give; raises what `read_settings` does."""
    options = options_of(flags, documents)
    left_out = idle_options(documents)
    if configuration.asks_for_spans(documents):
        left_out[f"'{configuration.KIND}.tracing'"] = configuration.WITHOUT_SPANS
    for place, reason in left_out.items():
        progress.note(f"{place} is left out: {reason}")
    custom_kinds = custom_kinds_of(flags, options) & configuration.CUSTOM_KINDS
    stages = read_stages(documents)
    if custom_kinds and stages:
        read_shipped()
    if flags.pods == "kubelet" and (found := _names_of_pod_stages(stages)):
        progress.note(f"for pods with the annotation '{LIFE}: {STAGES}' alone: {', '.join(found)}")
    if not stages and "Stage" not in custom_kinds and flags.pods != "kubelet":
        raise ConfigError(
            "there is no Stage: nothing would happen to any node or pod",
            hint="give a file with Stage documents with --config, or read them from the cluster with "
            "--enable-crds Stage",
        )
    bodies = tuple(document.body for document in documents if document.kind == "Stage")
    settings = _settings(flags, options, stages)
    return replace(
        settings,
        stage_documents=bodies,
        custom_kinds=custom_kinds,
        programs=read_programs(documents),
    )


def _settings(
    flags: argparse.Namespace, options: dict[str, Json], stages: tuple[Stage, ...]
) -> Settings:
    selecting = {word: options[name] for word, name in _SELECTING.items()}
    port = options["nodePort"]
    address = options["serverAddress"] or (f"0.0.0.0:{port}" if port else "")
    defaults = Parallelism()
    return Settings(
        kubeconfig=expanded(options["kubeconfig"]) if options["kubeconfig"] else None,
        master=flags.master,
        selection=select(**selecting),
        selecting=selecting,
        stages=stages,
        has_kubelet_pods=flags.pods == "kubelet",
        fault_dialects=_dialects(flags.fault_dialects),
        dialect_heartbeats=flags.dialect_heartbeats,
        cidr=options["cidr"],
        kubelet=Kubelet(
            ip=options["nodeIP"],
            name=options["nodeName"],
            port=port,
            address=flags.kubelet_address,
        ),
        server=parse_address(address) if address else None,
        server_token_file=flags.server_token_file,
        fleet_metrics=flags.fleet_metrics or "",
        lease_seconds=options["nodeLeaseDurationSeconds"],
        holder_identity=flags.holder_identity,
        shares=_shares(flags, options),
        etcd=_etcd(flags),
        verbosity=flags.v,
        parallelism=Parallelism(
            pods=options["podPlayStageParallelism"] or defaults.pods,
            nodes=options["nodePlayStageParallelism"] or defaults.nodes,
            leases=options["nodeLeaseParallelism"] or defaults.leases,
            syncs=options["podsOnNodeSyncParallelism"] or defaults.syncs,
        ),
    )


def _names_of_pod_stages(stages: Sequence[Stage]) -> list[str]:
    return [stage.name for stage in stages if stage.kind == POD]


def _shares(flags: argparse.Namespace, options: dict[str, Json]) -> bool:
    """Return whether nodes are shared: unless a name is given, or there is one node only."""
    if not options["nodeLeaseDurationSeconds"]:
        if flags.share_nodes:
            raise UsageError(
                "--share-nodes needs leases: they say which controller has which node",
                hint="give --node-lease-duration-seconds, such as 40",
            )
        return False
    if flags.share_nodes and flags.holder_identity == NODE_NAME:
        raise UsageError(
            f"--holder-identity {NODE_NAME} does not say which controller has which node",
            hint="leave it out for controllers that share nodes",
        )
    if flags.share_nodes is not None:
        return bool(flags.share_nodes)
    return not flags.holder_identity and not options["manageSingleNode"]


def _checked(name: str, value: Json) -> Json:
    """Check the value of a flag like one of a document."""
    if found := configuration.fault(name, value):
        raise UsageError(f"the flag for '{name}' is '{value}', {found.problem}", hint=found.hint)
    return value


def _etcd(flags: argparse.Namespace) -> EtcdAccess | None:
    if flags.data_path == "api":
        return None
    if not flags.etcd_endpoint:
        raise UsageError(
            f"--data-path {flags.data_path} needs an etcd to write to",
            hint="give its address with --etcd-endpoint, or use --data-path api",
        )
    insists = flags.data_path == "etcd"
    target = EtcdTarget(
        address=flags.etcd_endpoint,
        ca=flags.etcd_cafile,
        cert=flags.etcd_certfile,
        key=flags.etcd_keyfile,
    )
    return EtcdAccess(
        target=target,
        prefix=flags.etcd_prefix,
        insists=insists,
        managed_fields=flags.managed_fields,
    )
