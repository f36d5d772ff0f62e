"""Programs built from their Go modules."""

__all__ = ["build", "module_build"]
