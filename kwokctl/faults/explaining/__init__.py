"""The words of `fault explain` about a class. Pure."""
