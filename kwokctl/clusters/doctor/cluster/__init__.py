"""Checks of a cluster: dead components, a full etcd, and objects that do not reach their state."""

__all__ = ["checked_cluster", "cluster_checks"]
