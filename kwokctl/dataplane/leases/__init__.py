"""A node's lease, encoded and decoded by code for this one type, for speed."""
