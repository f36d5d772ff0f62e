"""Which Stage documents a cluster's controller plays."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl import assets
from kwokctl.components.heartbeat import Heartbeat, heartbeat
from kwokctl.config.documents import Document
from kwokctl.config.options import ClusterOptions
from kwokctl.expr import yaml

_PODS = ("pod-ready", "pod-ready-again", "pod-complete", "pod-delete")


def stage_documents(
    options: ClusterOptions, documents: Sequence[Document]
) -> tuple[Mapping[str, Any], ...]:
    """Return the user's Stages if there are any, else the default set.

    As in the original, one Stage of the user's replaces the whole default set.
    """
    own = tuple(document.body for document in documents if document.kind == "Stage")
    return own or _default_set(options)


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
