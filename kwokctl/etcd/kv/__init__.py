"""etcd's key-value and maintenance services."""

__all__ = ["kv", "maintenance", "operations"]
