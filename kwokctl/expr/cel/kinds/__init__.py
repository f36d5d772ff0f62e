"""The types of CEL, and those of the fields of nodes and pods."""
