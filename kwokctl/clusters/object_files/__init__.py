"""Snapshots in which objects are documents: of any cluster, into any cluster."""
