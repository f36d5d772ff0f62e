"""Rules by which objects lose what must not leave their cluster."""
