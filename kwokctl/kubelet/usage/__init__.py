"""The resource usage of fake nodes, pods and containers, and the paths that report it."""
