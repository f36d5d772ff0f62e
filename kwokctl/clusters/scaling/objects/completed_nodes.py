"""Completes the nodes of a template: with what the API server, or the controller, would add to each.

So nodes of any template are born with it. That saves a write each, and copies of them are sure to be right.
"""

from kwokctl.embedded.resource_metrics import ANNOTATION, path_of
from kwokctl.expr.gotemplate.symbols import deferring
from kwokctl.json_value import Json


def is_node(body: Json) -> bool:
    """Return whether an object is a node."""
    return bool(body["apiVersion"] == "v1" and body["kind"] == "Node")


def complete(node: Json) -> None:
    """Add what is missing to a node, in which symbols may be where others differ; it has its name."""
    spec, status = node.get("spec"), node.get("status")
    if isinstance(spec, dict):
        _complete_networks(spec)
    if isinstance(status, dict) and isinstance(status.get("capacity"), dict):
        status["allocatable"] = status.get("allocatable") or dict(status["capacity"])
    metadata = node["metadata"]
    annotations = metadata.get("annotations") or {}
    if isinstance(annotations, dict):
        path = deferring(path_of)(metadata["name"])
        metadata["annotations"] = {ANNOTATION: path, **annotations}


def _complete_networks(spec: dict[str, Json]) -> None:
    """Name the first network in both fields, as the API server does."""
    networks = spec.get("podCIDRs")
    if _is_missing(spec, "podCIDRs") and not _is_missing(spec, "podCIDR"):
        spec["podCIDRs"] = [spec["podCIDR"]]
    elif isinstance(networks, list) and networks and _is_missing(spec, "podCIDR"):
        spec["podCIDR"] = networks[0]


def _is_missing(value: dict[str, Json], field: str) -> bool:
    """Return whether a field is empty; what a symbol represents is not."""
    found = value.get(field)
    return found is None or (isinstance(found, str | list | dict) and not found)
