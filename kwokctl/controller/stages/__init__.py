"""Stages: read, checked and compiled; which Stage comes next for an object, and after which delay."""
