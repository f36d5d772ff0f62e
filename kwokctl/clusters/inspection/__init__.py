"""Inspects clusters: exports logs and configuration, and forwards the ports of components."""

__all__ = ["export_logs", "forwarding"]
