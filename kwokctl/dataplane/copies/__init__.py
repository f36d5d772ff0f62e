"""Copies of a real object: the values that differ between them, and the encoders that fill these in."""
