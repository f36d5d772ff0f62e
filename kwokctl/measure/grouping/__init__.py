"""Pods that belong together: gangs, and the groups that figures are parted into."""
