"""The expressions of metrics and of usages, and what they see of nodes, pods and containers."""
