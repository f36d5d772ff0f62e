"""What kwokctl can do: one verb per module."""
