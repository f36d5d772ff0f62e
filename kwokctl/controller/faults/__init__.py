"""Faults of nodes that no Stage describes, such as pressure on memory."""
