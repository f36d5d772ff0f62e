"""Programs built from their Go modules."""
