"""gRPC over HTTP/2 to etcd."""

__all__ = ["channel", "dial_etcd"]
