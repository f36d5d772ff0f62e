"""A node's lease, written and read without the libraries for its formats."""
