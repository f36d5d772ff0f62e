"""Finds mistakes in Stages: by their text alone, and by playing them on examples."""

__all__ = ["lint"]
