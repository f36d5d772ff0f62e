"""Kubernetes over HTTP."""
