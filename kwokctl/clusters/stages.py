"""Which Stage documents a cluster's controller plays."""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl import assets
from kwokctl.components.heartbeat import heartbeat
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
    beat = heartbeat(options)
    name = "node-heartbeat-with-lease" if beat.lease_seconds > 0 else "node-heartbeat"
    (slowed,) = _documents(name)
    _slow_down(slowed["spec"]["delay"], beat.status_milliseconds)
    others = [document for pod in _PODS for document in _documents(pod)]
    return (*_documents("node-initialize"), slowed, *others)


def _documents(name: str) -> list[dict[str, Any]]:
    return yaml.load_all(assets.text(f"stages/{name}.yaml"))


def _slow_down(delay: dict[str, Any], period: int) -> None:
    """Keep a heartbeat's delay, in milliseconds, from being shorter than the status period."""
    delay["durationMilliseconds"] = max(delay["durationMilliseconds"], period)
    longest = max(delay["jitterDurationMilliseconds"], period + period // 10)
    delay["jitterDurationMilliseconds"] = longest
