"""Groups similar pods of a file: if the API server accepts one, it would accept the others. Pure."""

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
"""Fields of a pod's status that differ between similar pods."""
_OWN_PARTS = {"hostIP", "hostIPs", "podIP", "podIPs", "startTime"}
"""Parts of a status with such fields, for which the API server has rules."""
_ANY = "*"
_TOKEN = "kube-api-access-"  # noqa: S105 - the beginning of a name
_SETTLED = frozenset(("annotations", "finalizers"))
"""Metadata that must be equal in similar pods."""


def likeness(pod: Mapping[str, Json]) -> bytes:
    """Return a key that is equal for pods that the API server treats alike.

    It consists of everything but the name, labels, owners, node, addresses and times of a pod, and the
    random name that admission gives the volume of its token.
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
    """Return whether the API server would accept the parts of a pod that the key leaves out."""
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
    """Return the name of the volume that admission adds; empty without one."""
    names = (each.get("name", "") for each in spec.get("volumes") or ())
    return next((name for name in names if name.startswith(_TOKEN)), "")


def _without_own(value: Json) -> Json:
    if isinstance(value, dict):
        return {k: _ANY if _is_own(k, v) else _without_own(v) for k, v in value.items()}
    return [_without_own(each) for each in value] if isinstance(value, list) else value


def _is_own(name: str, value: Json) -> bool:
    return name in _OWN and isinstance(value, str) and bool(value)


def _has_sound_status(pod: Mapping[str, Json]) -> bool:
    """Return whether the addresses and times of a pod's status are valid."""
    own = _OWN_PARTS & pod.get("status", {}).keys()
    return check_change(PODS, {**pod, "status": {}}, pod, own) is None
