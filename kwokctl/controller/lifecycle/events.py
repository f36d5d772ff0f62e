"""The Events that a kubelet reports about a pod."""

import msgspec


class PodEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An Event about a pod or one of its containers."""

    type: str = "Normal"
    """"Normal" or "Warning"."""
    reason: str
    message: str
    field: str = ""
    """The field path of the container; empty for the pod."""
