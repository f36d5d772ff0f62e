"""What happens to objects, written down, and done again in the same time."""
