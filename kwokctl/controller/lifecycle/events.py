"""What a kubelet reports of a pod beside its status."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PodEvent:
    """An Event about a pod or one of its containers."""

    type: str = "Normal"
    """"Normal" or "Warning"."""
    reason: str
    message: str
    field: str = ""
    """The field path of the container; empty for the pod."""
