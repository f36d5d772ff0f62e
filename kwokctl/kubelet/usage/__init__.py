"""What fake nodes, pods and containers use of resources, and the paths that tell it."""
