"""Finds mistakes in Stages: those that need no object, and those that show on examples."""
