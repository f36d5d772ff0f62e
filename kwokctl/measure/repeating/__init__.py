"""Measures runs that all begin with the same state of the cluster."""
