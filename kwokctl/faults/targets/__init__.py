"""Targets of faults: which nodes match, which units of them are hit, and how many. Pure."""
