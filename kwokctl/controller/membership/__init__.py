"""The controllers that share the nodes of a cluster: who they are, and which nodes change hands."""

__all__ = ["membership"]
