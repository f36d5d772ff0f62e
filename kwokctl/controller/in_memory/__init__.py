"""Fake kubelets in memory: they play Stages on new objects before these are written."""

__all__ = ["kubelet"]
