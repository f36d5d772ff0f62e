"""The kubelet server: answers as the kubelet of every fake node. A process of its own."""

__all__ = ["general_routes", "run", "settings", "subjects", "usage"]
