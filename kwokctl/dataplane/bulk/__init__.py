"""How a data plane creates and deletes many objects: through the API, or in etcd as copies."""
