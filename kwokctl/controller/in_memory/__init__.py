"""Fake kubelets in memory: what they do at once to an object before it is written."""
