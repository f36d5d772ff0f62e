"""The Events that fake kubelets create, and the writer that stores them in etcd."""

__all__ = ["event_writer", "object_event"]
