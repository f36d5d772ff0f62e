"""etcd's key-value and maintenance services."""
