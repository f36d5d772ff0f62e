"""From the text of an expression to its tree."""

__all__ = ["cel_nodes", "cel_parser"]
