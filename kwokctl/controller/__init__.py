"""Fake nodes and pods: the embedded controller."""

__all__ = [
    "configuration",
    "documents",
    "engine",
    "flags",
    "in_memory",
    "leases",
    "nodes",
    "run",
    "serving",
    "settings",
    "stages",
]
