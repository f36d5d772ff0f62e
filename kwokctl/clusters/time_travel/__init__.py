"""Takes a running cluster back to a mark, by writing what differs to etcd."""
