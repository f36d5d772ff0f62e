"""Watches a cluster through its API, and turns what happens into lines of the record."""
