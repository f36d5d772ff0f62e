"""kwokctl's client for etcd beside the libraries that could replace it."""
