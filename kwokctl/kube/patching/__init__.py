"""Patches as the API server applies them. Pure."""
