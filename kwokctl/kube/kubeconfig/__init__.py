"""Kubeconfig files: read, written, locked and merged."""
