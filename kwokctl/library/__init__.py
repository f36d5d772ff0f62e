"""Clusters for Python programs: what the commands do, as methods that return values."""

__all__ = ["cluster", "faults", "measuring"]
