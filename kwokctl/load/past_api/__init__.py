"""Arrivals that are written straight to etcd, as copies of two that the API server has created."""
