"""Creation and deletion of many objects: through the API, or in etcd as copies of two samples."""

__all__ = ["api_bulk", "copy_session", "created_samples", "etcd_bulk", "locate"]
