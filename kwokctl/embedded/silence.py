"""Recognizes silent nodes: their kubelets count as dead, or cut off."""

from collections.abc import Mapping

KUBELET = "kwokctl.dev/kubelet"
"""An annotation of a node. With the value `silent` it silences the kubelet, with any other it does nothing."""
_SILENT = "silent"


def is_silent(annotations: Mapping[str, str] | None) -> bool:
    """Return whether the annotations of a node silence its kubelet."""
    return annotations is not None and annotations.get(KUBELET) == _SILENT
