"""Images of nodes and of what runs in them."""

__all__ = ["image"]
