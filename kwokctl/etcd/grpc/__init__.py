"""gRPC over HTTP/2 to etcd."""
