"""Authentication and authorization of the kubelet server's clients."""

__all__ = ["gate", "reviews"]
