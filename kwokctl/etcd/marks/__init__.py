"""Marks: what etcd held at a revision, kept in a file, and what differs from it later."""
