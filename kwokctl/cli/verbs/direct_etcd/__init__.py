"""`etcd` and `kectl`: objects where the API server keeps them."""
