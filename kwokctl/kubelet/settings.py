"""The settings of the kubelet server: flags, spelt as a kubelet's where it has them, and documents from files."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl import __version__
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.document_kinds import FOR_KUBELET
from kwokctl.config.nearest import did_you_mean
from kwokctl.embedded.flag_parser import SWITCH, FlagParser, log_level, parse_address
from kwokctl.embedded.selection import Selection, select
from kwokctl.errors import UsageError
from kwokctl.kubelet.relays import RelayedMetrics
from kwokctl.kubelet.subjects import check_kubelet_documents
from kwokctl.kubelet.usage.metric_pages import usual_metrics
from kwokctl.model import ETCD, KWOK_CONTROLLER, HttpProbe
from kwokctl.progress import Progress


def parser() -> argparse.ArgumentParser:
    """Make the parser; whatever is wrong raises UsageError."""
    made = FlagParser(
        prog="kwok-kubelet",
        allow_abbrev=False,
        description="Serves the kubelet API of every fake node: logs of containers and similar, "
        "as documents define.",
    )
    add = made.add_argument
    add("--kubeconfig", type=Path,
        help="how to reach the cluster (default: ~/.kube/config if it exists)")  # fmt: skip
    add("--master", default="", help="address of the API server; overrides that of the kubeconfig")
    add("-c", "--config", action="append", default=[],
        help="file of documents, such as Logs; may be repeated")  # fmt: skip
    add("--enable-crds", action="append", default=[], metavar="KIND,…",
        help="kinds of documents to read from the cluster, too, as custom resources: any but "
        "Stage; may be repeated")  # fmt: skip
    _add_selection(made)
    add("--server-address", required=True, help="host:port to answer on; several hosts with commas")
    add("--egress-socket", type=Path,
        help="unix socket at which the API server requests connections to nodes and to all other addresses")  # fmt: skip
    _add_access(made)
    _add_relays(made)
    add("-v", "--v", type=log_level, default=0, help="log level: a number or a name")
    add("--version", action="version", version=f"kwok-kubelet version {__version__}")
    return made


def _add_selection(made: argparse.ArgumentParser) -> None:
    """Add the flags that say which nodes are fake ones: the controller's."""
    add = made.add_argument
    add("--manage-all-nodes", default=False, **SWITCH, help="every node is a fake one")
    add("--manage-single-node", default="", help="the one fake node, by name")
    add("--manage-nodes-with-annotation-selector", default="")
    add("--manage-nodes-with-label-selector", default="")


def _add_relays(made: argparse.ArgumentParser) -> None:
    """Add the flags that say whose metrics are relayed."""
    add = made.add_argument
    add("--controller-metrics-url", default="", help="URL of the controller's metrics")
    add("--controller-token-file", type=Path, help="token for these metrics")
    add("--etcd-metrics-url", default="", help="URL of etcd's metrics")
    add("--etcd-socket", type=Path, help="unix socket of etcd to dial instead of the URL's host")
    add("--etcd-cafile", type=Path, help="CA of etcd's certificate")
    add("--etcd-certfile", type=Path, help="client certificate for etcd")
    add("--etcd-keyfile", type=Path, help="key of the client certificate")


def _add_access(made: argparse.ArgumentParser) -> None:
    """Add the flags that say which clients may ask for what; the names are the kubelet's."""
    add = made.add_argument
    add("--tls-cert-file", type=Path, help="certificate of the server; without it TLS is not used")
    add("--tls-private-key-file", type=Path, help="key of the server's certificate")
    add("--client-ca-file", type=Path, help="CA of client certificates")
    add("--anonymous-auth", default=False, **SWITCH,
        help="accept clients without a credential, as the user 'system:anonymous' (default: false)")  # fmt: skip
    add("--authorization-mode", choices=("Webhook", "AlwaysAllow"), default="Webhook",
        help="ask the API server whether a user may send a request (Webhook, the default), or allow every authenticated user (AlwaysAllow)")  # fmt: skip
    add("--enable-debugging-handlers", default=True, **SWITCH,
        help="serve logs, exec and similar")  # fmt: skip
    add("--enable-profiling", default=False, **SWITCH,
        help="serve a CPU profile of this process at /debug/pprof/profile")  # fmt: skip


class TlsFiles(msgspec.Struct, frozen=True, kw_only=True):
    """The server's certificate, and the authority for those of clients."""

    certificate: Path
    key: Path
    client_ca: Path | None


class KubeletSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of the kubelet server."""

    kubeconfig: Path | None
    master: str
    documents: tuple[Document, ...]
    custom_kinds: frozenset[str] = frozenset()
    """Kinds of documents that are custom resources, too."""
    selection: Selection
    hosts: tuple[str, ...]
    port: int
    gives_way: bool = False
    """Whether a free port is taken in place of one that another program has."""
    egress_socket: Path | None
    tls: TlsFiles | None
    anonymous: bool
    """Whether a client without a credential is a user, too."""
    allow_all: bool
    """Whether every user has every right."""
    debugging: bool
    """Whether handlers for debugging, such as logs, are on."""
    profiling: bool
    """Whether clients with the right may take profiles."""
    verbosity: int
    relays: tuple[RelayedMetrics, ...] = ()
    """The programs whose metrics are relayed."""


def read_kubelet_settings(argv: Sequence[str], progress: Progress) -> KubeletSettings:
    """Read flags and configuration files; raises UsageError and ConfigError."""
    flags = parser().parse_args(argv)
    hosts, port = parse_address(flags.server_address)
    return KubeletSettings(
        kubeconfig=flags.kubeconfig,
        master=flags.master,
        documents=_documents(flags.config, progress),
        custom_kinds=_kinds(flags.enable_crds),
        selection=select(
            all_nodes=flags.manage_all_nodes,
            single_node=flags.manage_single_node,
            annotation_selector=flags.manage_nodes_with_annotation_selector,
            label_selector=flags.manage_nodes_with_label_selector,
        ),
        hosts=tuple(hosts.split(",")),
        port=port,
        egress_socket=flags.egress_socket,
        tls=tls_files(flags.tls_cert_file, flags.tls_private_key_file, flags.client_ca_file),
        anonymous=flags.anonymous_auth,
        allow_all=flags.authorization_mode == "AlwaysAllow",
        debugging=flags.enable_debugging_handlers,
        profiling=flags.enable_profiling,
        verbosity=flags.v,
        relays=tuple(_relays(flags)),
    )


def _documents(files: Sequence[str], progress: Progress) -> tuple[Document, ...]:
    """Read all documents, and check them here: no connection waits yet for what that loads."""
    found = (usual_metrics(), *load_documents(files, progress=progress))
    check_kubelet_documents(found)
    return found


def _kinds(given: Sequence[str]) -> frozenset[str]:
    kinds = frozenset(kind for words in given for kind in words.split(",") if kind)
    if unknown := sorted(kinds - FOR_KUBELET):
        hint = (
            did_you_mean(unknown[0], FOR_KUBELET) or f"kinds are: {', '.join(sorted(FOR_KUBELET))}"
        )
        raise UsageError(f"'{unknown[0]}' does not configure kubelet responses", hint=hint)
    return kinds


def _relays(flags: argparse.Namespace) -> Iterator[RelayedMetrics]:
    if flags.controller_metrics_url:
        page = HttpProbe(url=flags.controller_metrics_url)
        yield RelayedMetrics(name=KWOK_CONTROLLER, page=page, token=flags.controller_token_file)
    if flags.etcd_metrics_url:
        page = HttpProbe(
            url=flags.etcd_metrics_url,
            socket=flags.etcd_socket,
            ca=flags.etcd_cafile,
            cert=flags.etcd_certfile,
            key=flags.etcd_keyfile,
        )
        yield RelayedMetrics(name=ETCD, page=page)


def tls_files(
    certificate: Path | None, key: Path | None, client_ca: Path | None
) -> TlsFiles | None:
    """Return the files of a certificate and its key; None without, UsageError for one alone."""
    if bool(certificate) != bool(key):
        raise UsageError(
            "a certificate needs its key",
            hint="give --tls-cert-file and --tls-private-key-file, or neither",
        )
    if certificate is None or key is None:
        return None
    return TlsFiles(certificate=certificate, key=key, client_ca=client_ca)
