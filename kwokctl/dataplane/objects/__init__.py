"""Objects as the API server keeps them in etcd: read from its encodings, and written in them."""
