"""The resource usage of fake nodes, pods and containers, and the paths that report it."""

__all__ = ["metric_pages", "node_meters", "node_pages", "pod_meters", "usage_routes", "usage_rules"]
