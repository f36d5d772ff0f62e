"""The path at which metrics-server finds the usage of a fake node.

All fake nodes have one kubelet, at one address, and a request for a node's metrics names no node: the path
must. metrics-server takes the path from an annotation of the node
(https://github.com/kubernetes-sigs/metrics-server/blob/master/pkg/scraper/client/resource/client.go).
"""

from kwokctl.json_value import Json
from kwokctl.kube.client import PatchType

ANNOTATION = "metrics.k8s.io/resource-metrics-path"


def path_of(node: str) -> str:
    """Return the path at which the kubelet server answers for a node."""
    return f"/metrics/nodes/{node}/metrics/resource"


def has_path(node: Json) -> bool:
    """Return whether a node says where its metrics are, whatever that is."""
    return ANNOTATION in (node["metadata"].get("annotations") or {})


def with_path(node: Json, patch: Json, patch_type: PatchType) -> Json:
    """Return a patch of a node's status that also says where its metrics are, unless the node does.

    The API server takes annotations with a status, as from kubelets. JSON patches are left as they are.
    """
    if patch_type is PatchType.JSON or not isinstance(patch, dict) or has_path(node):
        return patch
    metadata = patch.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    path = {ANNOTATION: path_of(node["metadata"]["name"])}
    return {**patch, "metadata": {**metadata, "annotations": {**path, **annotations}}}
