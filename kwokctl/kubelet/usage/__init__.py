"""The resource usage of fake nodes, pods and containers, and the paths that report it."""

__all__ = ["metric_pages", "usage_routes"]
