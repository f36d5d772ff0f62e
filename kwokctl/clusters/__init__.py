"""What kwokctl can do: one verb a module."""
