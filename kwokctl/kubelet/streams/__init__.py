"""Exec, attach and port-forward: streams between a client and a fake container."""

__all__ = ["fake_programs", "stream_documents", "stream_routes", "stream_targets"]
