"""The connection of a load to its cluster: in whose name, and how fast."""
