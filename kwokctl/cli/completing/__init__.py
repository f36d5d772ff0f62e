"""Completion of words in a shell."""
