"""Faults in clusters: they are injected, followed, cleared, and read."""
