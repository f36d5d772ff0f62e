"""Snapshots of objects as YAML documents, which can come from any cluster and go into any cluster."""
