"""Creates clusters that begin with the objects of another cluster."""

__all__ = ["fork", "fork_target", "needed_memory", "seed"]
