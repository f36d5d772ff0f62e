"""Exports the objects of any cluster to a file: page by page, several kinds at a time, resumable."""
