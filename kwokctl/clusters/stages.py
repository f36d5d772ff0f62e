"""Which Stage documents a cluster's controller plays."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl import assets
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.expr import yaml

_PODS = ("pod-ready", "pod-complete", "pod-delete")


def stage_documents(
    options: ClusterOptions, documents: Sequence[Document]
) -> tuple[Mapping[str, Any], ...]:
    """Return the user's Stages if there are any, else the default set.

    As in the original, one Stage of the user's replaces the whole default set.
    """
    own = tuple(document.body for document in documents if document.kind == "Stage")
    return own or _default_set(options)


def _default_set(options: ClusterOptions) -> tuple[Mapping[str, Any], ...]:
    has_leases = options.node_lease_duration_seconds > 0
    heartbeat = "node-heartbeat-with-lease" if has_leases else "node-heartbeat"
    names = ("node-initialize", heartbeat, *_PODS)
    return tuple(
        document for name in names for document in yaml.load_all(assets.text(f"stages/{name}.yaml"))
    )
