"""The settings of the kubelet server: flags, and documents from files."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.document_kinds import FOR_KUBELET
from kwokctl.config.nearest import did_you_mean
from kwokctl.embedded.flags import parse_address
from kwokctl.embedded.selection import Selection, select
from kwokctl.errors import UsageError
from kwokctl.kubelet.flags import parser
from kwokctl.kubelet.relays import RelayedMetrics
from kwokctl.kubelet.subjects import check_kubelet_documents
from kwokctl.kubelet.usage.metric_pages import usual_metrics
from kwokctl.model import ETCD, KWOK_CONTROLLER, HttpProbe
from kwokctl.progress import Progress


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
