"""Measured runs for Python programs: the figures of a run as objects."""
