"""From a checked tree to Python."""

__all__ = ["calls", "cel_writer"]
