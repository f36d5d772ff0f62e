"""Exec, attach and port-forward: what a client sends to a container and gets from it while both run."""
