"""Marks: the content of etcd at a revision in a file, and the difference of a later content from it."""
