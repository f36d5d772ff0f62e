"""Creation and deletion of many objects: through the API, or in etcd as copies of two samples."""

__all__ = ["api_bulk", "etcd_bulk", "locate"]
