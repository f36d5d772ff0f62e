"""Figures, each an entry of a list: its name, its unit, and how it is computed."""
