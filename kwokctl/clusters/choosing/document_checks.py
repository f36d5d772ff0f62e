"""Whether the embedded controller would start with the user's documents.

Apart from what is kept of them, which every command reads: this compiles all templates.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.controller.configuration import KIND, SELECTING, given_options
from kwokctl.controller.nodes.selection import select
from kwokctl.controller.stages.reader import read_stages
from kwokctl.errors import NotServedError, UsageError


def check_documents(options: ClusterOptions, documents: Sequence[Document]) -> None:
    """Raise UsageError and ConfigError for documents with which the controller would not start."""
    own = options.of(KwokControllerOptions)
    served = {kind for kind in own.enable_crds if any(kind == d.kind for d in documents)}
    if served:
        kind = min(served)
        raise UsageError(
            f"documents of kind '{kind}' are given, and '--enable-crds {kind}' reads them from the "
            "API server instead",
            hint="leave one of the two out; apply the documents with kubectl",
        )
    if own.binary:
        return
    given = given_options(documents)
    if own.enable_crds or given.get("enableCRDs"):
        raise NotServedError(
            "the embedded controller does not read custom resources yet: '--enable-crds' is not "
            "supported",
            hint="give the documents with --config, or another controller with "
            "--kwok-controller-binary",
        )
    read_stages(documents)
    _check_selection(given)


def _check_selection(given: Mapping[str, Any]) -> None:
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
