"""Fake nodes and pods: the embedded controller."""
