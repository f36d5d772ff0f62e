"""Faults of fleets: which classes there are, what each shows on a node, and what is put back afterwards. Pure."""
