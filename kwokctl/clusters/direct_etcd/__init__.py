"""Objects in etcd, read and written without an API server: the verbs of `kwokctl kectl`."""
