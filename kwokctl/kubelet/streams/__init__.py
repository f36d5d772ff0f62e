"""Exec, attach and port-forward: streams between a client and a fake container."""

__all__ = ["stream_documents", "stream_routes"]
