"""The leases of nodes: which controller holds a node, and how its lease is renewed."""

__all__ = ["holder", "keeper", "ownership"]
