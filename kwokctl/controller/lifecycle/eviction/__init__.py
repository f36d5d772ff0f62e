"""Evictions from nodes under pressure: the choice of pods, and the task that makes it regularly."""
