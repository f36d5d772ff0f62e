"""The files that a cluster keeps in its folder."""
