"""The kinds with which NVSentinel asks its janitor for repairs, with the fields that they have in its repository."""

from typing import Any

GROUP, VERSION = "janitor.dgxc.nvidia.com", "v1alpha1"
API = f"{GROUP}/{VERSION}"
_TEXT, _TIME = {"type": "string"}, {"type": "string", "format": "date-time"}
_LIST = {"type": "array", "items": _TEXT}
_FORCED = {"force": {"type": "boolean", "default": False}}
_SPECS: dict[str, dict[str, Any]] = {
    "RebootNode": _FORCED,
    "TerminateNode": _FORCED,
    "GPUReset": {
        "selector": {"type": "object", "properties": {"uuids": _LIST, "pciBusIDs": _LIST}}
    },
}
KINDS = tuple(_SPECS)
_CONDITION = {
    "type": "object",
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    "properties": {
        "type": _TEXT,
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "reason": {"type": "string", "minLength": 1},
        "message": _TEXT,
        "lastTransitionTime": _TIME,
    },
}
_STATUS = {
    "type": "object",
    "properties": {
        "startTime": _TIME,
        "completionTime": _TIME,
        "conditions": {"type": "array", "items": _CONDITION},
    },
}


def plural(kind: str) -> str:
    """Return the name of a kind in paths."""
    return f"{kind.lower()}s"


def definition(kind: str) -> dict[str, Any]:
    """Return the CustomResourceDefinition of a kind."""
    spec = {
        "type": "object",
        "required": ["nodeName"],
        "properties": {"nodeName": _TEXT, **_SPECS[kind]},
    }
    schema = {"type": "object", "properties": {"spec": spec, "status": _STATUS}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural(kind)}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"kind": kind, "plural": plural(kind), "singular": kind.lower()},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def request(kind: str, name: str, node: str) -> dict[str, Any]:
    """Return an object that asks for the repair of a node."""
    return {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"nodeName": node},
    }
