"""The restore of a file of objects into a cluster: its checks, the order of objects, and the writers."""

__all__ = ["checking", "loading", "restore", "sent_objects"]
