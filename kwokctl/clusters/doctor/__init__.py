"""`kwokctl doctor`: checks of this machine and of a cluster, with remedies and repairs."""
