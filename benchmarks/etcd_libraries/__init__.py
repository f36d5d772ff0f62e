"""Our client for etcd beside the libraries that could take its place."""
