"""What nodes suffer from, as far as no Stage describes it."""
