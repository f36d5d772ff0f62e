"""Refuses documents that the controller and the kubelet server of a new cluster cannot use."""

from collections.abc import Mapping, Sequence

from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.config.config_documents import Document
from kwokctl.config.document_kinds import FAULT, FOR_KUBELET, PROGRAM, RECORDED, STAGE
from kwokctl.config.options import ClusterOptions
from kwokctl.controller.configuration import (
    KIND,
    SELECTING,
    WITHOUT_SPANS,
    asks_for_spans,
    check_custom_kinds,
    given_options,
)
from kwokctl.embedded.selection import select
from kwokctl.errors import NotServedError, UsageError
from kwokctl.json_value import Json


def check_documents(options: ClusterOptions, documents: Sequence[Document]) -> None:
    """Raise UsageError and ConfigError for documents with which the controller would not start.

    Raises NotServedError for what a new cluster would do nothing with.
    """
    own = options.of(KwokControllerOptions)
    _check_recorded(documents)
    if own.binary:
        _check_sources(own.enable_crds, documents)
        _refuse_faults(own.enable_crds)
        _refuse_programs(documents)
        return
    _check_programs(documents)
    given = given_options(documents)
    if asks_for_spans(documents):
        place = f"'{KIND}.tracing'"
        raise NotServedError(
            f"{place} is not supported: {WITHOUT_SPANS}", hint=f"leave out {place}"
        )
    check_custom_kinds([*own.enable_crds, *(given.get("enableCRDs") or ())])
    _check_stages(documents)
    _check_subjects(documents)
    _check_selection(given)


def _check_recorded(documents: Sequence[Document]) -> None:
    for document in documents:
        if document.kind == RECORDED:
            raise NotServedError(
                f"{document.source}: a '{RECORDED}' is not part of a cluster, but of a recording",
                hint="play it with 'kwokctl snapshot replay --path FILE', or leave it out",
            )


def _check_programs(documents: Sequence[Document]) -> None:
    if any(document.kind == PROGRAM for document in documents):
        from kwokctl.controller.documents.program_documents import (
            read_programs,  # a sixth of the start
        )

        read_programs(documents)


def _refuse_programs(documents: Sequence[Document]) -> None:
    for document in documents:
        if document.kind == PROGRAM:
            raise NotServedError(
                f"{document.source}: only the embedded controller knows documents of kind '{PROGRAM}'",
                hint="leave it out, or leave out --kwok-controller-binary",
            )


def _refuse_faults(kinds: Sequence[str]) -> None:
    if FAULT in kinds:
        raise NotServedError(
            f"'--enable-crds {FAULT}': only the embedded controller plays faults",
            hint=f"leave out {FAULT}, or leave out --kwok-controller-binary",
        )


def _check_stages(documents: Sequence[Document]) -> None:
    if any(document.kind == STAGE for document in documents):
        from kwokctl.controller.stages.stage_reader import read_stages  # a sixth of the start

        read_stages(documents)


def _check_subjects(documents: Sequence[Document]) -> None:
    if any(document.kind in FOR_KUBELET for document in documents):
        from kwokctl.kubelet.subjects import check_kubelet_documents  # a sixth of the start

        check_kubelet_documents(documents)


def _check_sources(kinds: Sequence[str], documents: Sequence[Document]) -> None:
    """Raise UsageError for documents of kinds that a controller reads from the API server instead."""
    for kind in sorted({*kinds} & {document.kind for document in documents}):
        raise UsageError(
            f"documents of kind '{kind}' are given, and '--enable-crds {kind}' reads them from the "
            "API server instead",
            hint="leave one of the two out; apply the documents with kubectl",
        )


def _check_selection(given: Mapping[str, Json]) -> None:
    chosen = [name for name in SELECTING if given.get(name)]
    if not chosen:
        return
    try:
        select(
            all_nodes=given.get("manageAllNodes", False),
            single_node=given.get("manageSingleNode", ""),
            annotation_selector=given.get("manageNodesWithAnnotationSelector", ""),
            label_selector=given.get("manageNodesWithLabelSelector", ""),
        )
    except UsageError as e:
        names = " and ".join(f"'{name}'" for name in chosen)
        raise UsageError(f"{KIND}: {names} exclude each other", hint="give only one") from e
