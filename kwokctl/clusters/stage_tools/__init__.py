"""Tools for people who write Stages: they look at Stages and objects, and play nothing."""
