"""Clusters on disk: their folders and files, saved state, locks, and the documents that they keep."""
