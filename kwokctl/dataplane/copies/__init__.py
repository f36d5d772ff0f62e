"""Copies of one real object: what differs between them, and how each is joined."""
