"""Shared by the runtimes that use a container engine."""
