"""Exec, attach and port-forward: streams between a client and a fake container."""
