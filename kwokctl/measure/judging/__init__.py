"""Judges a run: assertions on its figures, and whether they mean something."""
