"""The commands of `fault`."""
