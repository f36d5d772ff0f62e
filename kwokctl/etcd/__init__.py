"""etcd over gRPC, and its snapshot files."""
