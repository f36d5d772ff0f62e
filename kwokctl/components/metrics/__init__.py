"""Metrics of components: their addresses, the intervals of measuring nodes, and Prometheus' configuration."""
