"""Rules that remove from objects what must not leave their cluster."""

__all__ = ["applying", "field_names", "rules_file"]
