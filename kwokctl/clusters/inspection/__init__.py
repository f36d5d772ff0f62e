"""Inspects clusters: exports logs and configuration, and forwards the ports of components."""
