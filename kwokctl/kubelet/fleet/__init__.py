"""The fake nodes and the pods on them, as far as the kubelet server needs them."""

__all__ = ["cluster_fleet", "device_gauges", "dialled_node", "views"]
