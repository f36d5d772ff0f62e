"""Marks of a cluster, and the rewind of a running cluster to one: the differences are written to etcd."""
