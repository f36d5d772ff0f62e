"""Attach: what a container writes from now on, as documents of the kinds Attach and ClusterAttach say."""
