"""Loads: what users and controllers would ask of a cluster, created in a rhythm of its own."""
