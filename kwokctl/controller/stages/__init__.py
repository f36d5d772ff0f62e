"""Stages: read, checked and compiled; which one an object gets next, and after what delay."""
