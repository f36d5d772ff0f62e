"""How a load reaches its cluster, in whose name and how fast."""
