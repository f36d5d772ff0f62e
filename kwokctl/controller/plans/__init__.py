"""Plays that were proven once for all objects that are alike: only what differs is computed for each."""
