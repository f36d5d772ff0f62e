"""Checks of this machine: whether clusters can be made here, and what slows them down."""
