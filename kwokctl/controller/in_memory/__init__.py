"""Fake kubelets in memory: what they do at once to an object that is yet to be written."""
