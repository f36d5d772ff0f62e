"""Which of the user's documents a cluster keeps: Stages, and what its runtime reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl import assets
from kwokctl.components.definitions.kwok_controller import KwokControllerOptions
from kwokctl.components.heartbeat import Heartbeat, heartbeat
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.errors import UsageError
from kwokctl.expr import yaml
from kwokctl.runtime import BringsKubernetes, Runtime

FOR_RUNTIME = "Cluster"
"""The kind of document that is for the program with which a runtime makes clusters."""
_PODS = (
    "pod-ready",
    "pod-ready-again",
    "pod-resize",
    "pod-ephemeral",
    "pod-complete",
    "pod-delete",
)


def stage_documents(
    options: ClusterOptions, documents: Sequence[Document]
) -> tuple[Mapping[str, Any], ...]:
    """Return the user's Stages if there are any, else the default set.

    As in the original, one Stage of the user's replaces the whole default set, and there is none
    where the controller reads Stages from the API server.
    """
    if "Stage" in options.of(KwokControllerOptions).enable_crds:
        return ()
    own = tuple(document.body for document in documents if document.kind == "Stage")
    return own or _default_set(options)


def runtime_documents(
    runtime: Runtime, documents: Sequence[Document]
) -> tuple[Mapping[str, Any], ...]:
    """Return the user's documents for the program that the runtime makes clusters with.

    Raises UsageError where the runtime has no use for them.
    """
    group = runtime.documents if isinstance(runtime, BringsKubernetes) else ""
    found = [document for document in documents if document.kind == FOR_RUNTIME]
    for document in found:
        if not group or not document.api_version.startswith(f"{group}/"):
            raise UsageError(
                f"{document.source}: a '{document.kind}' of '{document.api_version}' is not for the "
                f"runtime '{runtime.name}'",
                hint="leave it out, or choose with --runtime the runtime that it is for",
            )
    return tuple(document.body for document in found)


def _default_set(options: ClusterOptions) -> tuple[Mapping[str, Any], ...]:
    others = [document for pod in _PODS for document in _documents(pod)]
    return (*_documents("node-initialize"), *_refreshing(heartbeat(options)), *others)


def _refreshing(beat: Heartbeat) -> list[dict[str, Any]]:
    """Return the Stage that refreshes the status of nodes now and then, if any is wanted."""
    if beat.is_off:
        return []
    found = _documents("node-heartbeat-with-lease" if beat.lease_seconds else "node-heartbeat")
    _slow_down(found[0]["spec"]["delay"], beat.status_milliseconds)
    return found


def _documents(name: str) -> list[dict[str, Any]]:
    return yaml.load_all(assets.text(f"stages/{name}.yaml"))


def _slow_down(delay: dict[str, Any], period: int) -> None:
    """Keep a heartbeat's delay, in milliseconds, from being shorter than the status period."""
    delay["durationMilliseconds"] = max(delay["durationMilliseconds"], period)
    longest = max(delay["jitterDurationMilliseconds"], period + period // 10)
    delay["jitterDurationMilliseconds"] = longest
