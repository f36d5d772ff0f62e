"""Plays the schedules of faults: each planned fault becomes a Fault when its time has come, or is suppressed for a reason."""
