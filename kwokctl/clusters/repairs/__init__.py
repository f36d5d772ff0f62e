"""Repairs of nodes, as commands ask for them and see them."""
