"""Checks of this machine: whether clusters can be created here, and what slows them down."""

__all__ = ["checked_machine", "machine_checks"]
