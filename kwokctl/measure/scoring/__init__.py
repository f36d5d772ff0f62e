"""Judges how a cluster reacts to faults: incidents, with the times of what was done about each."""
