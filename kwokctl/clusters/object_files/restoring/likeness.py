"""What objects of a file have in common: one that the API server takes speaks for others. Pure."""

from collections.abc import Mapping

import orjson

from kwokctl.json_value import Json
from kwokctl.kube.names import is_label_value, is_qualified_name, is_subdomain
from kwokctl.kube.resource import PODS
from kwokctl.kube.statuses import check_change

_OWN = {
    "containerID",
    "finishedAt",
    "hostIP",
    "ip",
    "lastProbeTime",
    "lastTransitionTime",
    "podIP",
    "startTime",
    "startedAt",
}
"""Fields of a pod's status whose texts differ between pods that are alike."""
_OWN_PARTS = {"hostIP", "hostIPs", "podIP", "podIPs", "startTime"}
"""Parts of a status that have such fields, and that the API server has rules for."""
_ANY = "*"
_TOKEN = "kube-api-access-"  # noqa: S105 - the beginning of a name
_SETTLED = frozenset(("annotations", "finalizers"))
"""Metadata in which pods that are alike agree."""


def likeness(pod: Mapping[str, Json]) -> bytes:
    """Return what pods must have in common for the API server to do the same with each.

    That is all but the name, labels, owners, node, addresses and times of a pod, and the name that
    admission makes up for the volume of its token.
    """
    metadata, spec = pod["metadata"], {**pod.get("spec", {}), "nodeName": ""}
    if spec.get("hostname") == metadata["name"]:
        spec["hostname"] = ""
    compared = {
        "version": pod["apiVersion"],
        "namespace": metadata.get("namespace"),
        "metadata": {name: metadata[name] for name in _SETTLED if name in metadata},
        "labelled": bool(metadata.get("labels")),
        "spec": spec,
        "status": _without_own(pod.get("status", {})),
    }
    text = orjson.dumps(compared, option=orjson.OPT_SORT_KEYS)
    token = _token_of(spec)
    return text.replace(token.encode(), _TOKEN.encode()) if token else text


def is_sound(pod: Mapping[str, Json]) -> bool:
    """Tell whether the API server would take what a pod does not have in common with others."""
    metadata, spec = pod["metadata"], pod.get("spec", {})
    labels = metadata.get("labels") or {}
    node = spec.get("nodeName", "")
    return (
        is_subdomain(metadata["name"])
        and (not node or is_subdomain(node))
        and all(is_qualified_name(key) for key in labels)
        and all(isinstance(value, str) and is_label_value(value) for value in labels.values())
        and _has_sound_status(pod)
    )


def _token_of(spec: Mapping[str, Json]) -> str:
    """Return the name of the volume that admission adds; empty if there is none."""
    names = (each.get("name", "") for each in spec.get("volumes") or ())
    return next((name for name in names if name.startswith(_TOKEN)), "")


def _without_own(value: Json) -> Json:
    if isinstance(value, dict):
        return {k: _ANY if _is_own(k, v) else _without_own(v) for k, v in value.items()}
    return [_without_own(each) for each in value] if isinstance(value, list) else value


def _is_own(name: str, value: Json) -> bool:
    return name in _OWN and isinstance(value, str) and bool(value)


def _has_sound_status(pod: Mapping[str, Json]) -> bool:
    """Tell whether the addresses and times of a pod's status are some; they are all that is its own."""
    own = _OWN_PARTS & pod.get("status", {}).keys()
    return check_change(PODS, {**pod, "status": {}}, pod, own) is None
