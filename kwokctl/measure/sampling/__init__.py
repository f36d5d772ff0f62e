"""Samples the components of a cluster: their metrics, their processes, and who sends requests."""
