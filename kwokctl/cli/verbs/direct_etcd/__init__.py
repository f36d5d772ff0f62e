"""`etcd` and `kectl`: read and change objects in etcd, where the API server stores them."""
