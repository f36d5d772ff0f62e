"""Sends what happens to the units of faults to programs and HTTP end points of the user."""
