"""Rules that remove from objects what must not leave their cluster."""
