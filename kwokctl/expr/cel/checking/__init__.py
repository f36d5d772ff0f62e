"""Which type each part of an expression has, and what cannot be computed for any object."""
