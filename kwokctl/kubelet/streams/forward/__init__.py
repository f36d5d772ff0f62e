"""Port-forward: connections to ports of fake pods, carried to where documents say."""

__all__ = ["handler"]
