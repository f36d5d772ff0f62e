"""Reads and writes objects where the API server keeps them, in the etcd of a cluster or of another one."""
