"""The settings of the command `kwok`: those of the controller, and of the kubelet server beside it."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from kwokctl.components.heartbeat import usual_heartbeat
from kwokctl.components.stage_sets import KUBELET_PODS, documents_of, sets_in_force
from kwokctl.config.config_documents import Document, load_documents
from kwokctl.config.document_kinds import FOR_KUBELET, KWOK
from kwokctl.controller.settings import Settings, custom_kinds_of, options_of, settings_of
from kwokctl.errors import UnavailableError
from kwokctl.host.paths import default_workdir, expanded
from kwokctl.json_value import Json
from kwokctl.kubelet.settings import KubeletSettings, TlsFiles, tls_files
from kwokctl.kubelet.subjects import check_kubelet_documents
from kwokctl.kubelet.usage.metric_pages import usual_metrics
from kwokctl.kwok.flags import parser
from kwokctl.kwok.without_effect import refuse_without_effect, without_server
from kwokctl.progress import Progress
from kwokctl.replacing import replace


class KwokSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the two parts of the process."""

    controller: Settings
    kubelet: KubeletSettings | None
    """None for no server at all."""
    client_ca: Path | None
    """The authority of clients' certificates that was given; None for the cluster's own."""


def read_kwok_settings(argv: Sequence[str], progress: Progress) -> KwokSettings:
    """Read flags and configuration files; raises UsageError and ConfigError."""
    known = parser()
    flags = known.parse_args(argv)
    documents = _documents(flags, progress)
    options = options_of(flags, documents)
    refuse_without_effect(flags, known.get_default, options, documents)
    kinds = custom_kinds_of(flags, options)
    if idle := without_server(options, kinds, documents):
        progress.note(f"nothing is served, so that these have no effect: {', '.join(idle)}")
    documents = (*documents, *_usual_stages(flags, options, kinds, documents, progress))
    controller = settings_of(flags, documents, progress)
    return KwokSettings(
        controller=replace(controller, server=None),
        kubelet=_kubelet(flags, options, kinds, documents, controller),
        client_ca=flags.client_ca_file,
    )


def _documents(flags: argparse.Namespace, progress: Progress) -> tuple[Document, ...]:
    """Read the user's own file and those that are named."""
    try:
        default = default_workdir() / "kwok.yaml"
    except UnavailableError:  # in a container there may be no home
        default = None
    return tuple(load_documents(flags.config, default=default, progress=progress))


def _usual_stages(
    flags: argparse.Namespace,
    options: Mapping[str, Json],
    kinds: frozenset[str],
    documents: Sequence[Document],
    progress: Progress,
) -> Sequence[Document]:
    """Return the shipped Stages for a controller that gets none, neither from files nor as objects."""
    if "Stage" in kinds or any(document.kind == "Stage" for document in documents):
        return ()
    words = (KUBELET_PODS,) if flags.pods == "kubelet" else ()
    beat = usual_heartbeat(options["nodeLeaseDurationSeconds"])
    sets = sets_in_force(words, beat)
    names = ", ".join(each.name for each in sets)
    progress.note(f"no Stage is given; playing the default ones: {names}")
    bodies = documents_of(sets, words, beat)
    return [
        Document(
            kind="Stage", api_version=KWOK, name=name, body=body, source=f"the default '{name}'"
        )
        for body in bodies
        for name in [str(body["metadata"]["name"])]
    ]


def _kubelet(
    flags: argparse.Namespace,
    options: Mapping[str, Json],
    kinds: frozenset[str],
    documents: Sequence[Document],
    controller: Settings,
) -> KubeletSettings | None:
    if controller.server is None:
        return None
    hosts, port = controller.server
    found = (usual_metrics(), *documents)
    check_kubelet_documents(found)
    return KubeletSettings(
        kubeconfig=controller.kubeconfig,
        master=controller.master,
        documents=found,
        custom_kinds=kinds & FOR_KUBELET,
        selection=controller.selection,
        hosts=tuple(hosts.split(",")),
        port=port,
        # The API server asks at the port of the nodes, where any of those that share them answers.
        gives_way=controller.shares,
        egress_socket=None,
        tls=_tls(options, flags.client_ca_file),
        anonymous=flags.anonymous_auth,
        allow_all=flags.authorization_mode == "AlwaysAllow",
        debugging=options["enableDebuggingHandlers"],
        profiling=options["enableProfilingHandler"],
        verbosity=controller.verbosity,
    )


def _tls(options: Mapping[str, Json], client_ca: Path | None) -> TlsFiles | None:
    certificate, key = (
        expanded(options[name]) if options[name] else None
        for name in ("tlsCertFile", "tlsPrivateKeyFile")
    )
    return tls_files(certificate, key, client_ca)
