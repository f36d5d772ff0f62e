"""Kubeconfig files: read, written, locked and merged."""

__all__ = ["access", "credential_plugin", "entries"]
