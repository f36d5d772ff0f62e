"""Checks of a cluster: what has died, what is full, and which objects do not become what they should."""
