"""Attach: the lines that a container writes from now on, as Attach and ClusterAttach documents say."""
