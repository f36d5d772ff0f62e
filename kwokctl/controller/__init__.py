"""Fake nodes and pods: the embedded controller."""

__all__ = [
    "configuration",
    "documents",
    "engine",
    "faults",
    "flags",
    "in_memory",
    "known_faults",
    "leases",
    "nodes",
    "repairs",
    "run",
    "serving",
    "settings",
    "stages",
]
