"""The leases of nodes: who holds a node, and how its lease is renewed."""
