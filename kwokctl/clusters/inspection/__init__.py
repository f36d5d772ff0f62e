"""Looks into clusters: exports what explains their state, and leads to the ports of components."""
