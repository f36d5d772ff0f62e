"""Ranks pods for a node that has too little: quality of service and priority."""

from collections.abc import Mapping
from typing import Any

_SYSTEM_CRITICAL = 2_000_000_000
"""The lowest priority of pods that a kubelet neither refuses nor evicts under pressure."""
_COUNTED = frozenset(("cpu", "memory"))


def priority_of(pod: Mapping[str, Any]) -> int:
    """Return a pod's priority."""
    return int(pod["spec"].get("priority") or 0)


def is_critical(pod: Mapping[str, Any]) -> bool:
    """Return whether the system needs a pod."""
    is_mirror = "kubernetes.io/config.mirror" in (pod["metadata"].get("annotations") or {})
    return is_mirror or priority_of(pod) >= _SYSTEM_CRITICAL


def is_best_effort(spec: Mapping[str, Any]) -> bool:
    """Return whether nothing of a pod requests or limits a processor or memory."""
    every = [spec, *(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    return not any(_names(each) & _COUNTED for each in every)


def _names(of: Mapping[str, Any]) -> set[str]:
    resources = of.get("resources") or {}
    return {
        name
        for part in ("requests", "limits")
        for name, quantity in (resources.get(part) or {}).items()
        if str(quantity) != "0"
    }
