"""From a checked tree to Python."""
