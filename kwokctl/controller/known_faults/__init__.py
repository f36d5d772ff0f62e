"""The Faults that a controller knows in its cluster, and their clock; nothing here reads from the cluster or writes to it."""
