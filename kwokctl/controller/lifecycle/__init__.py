"""The life of a pod as a kubelet would give it: pure functions of the pod and the time."""

__all__ = [
    "admission",
    "containers",
    "device_news",
    "eviction",
    "kubelet_life",
    "looks",
    "notices",
    "pod_faults",
    "reboots",
]
