"""The commands of `measure`."""
