"""The type of each part of an expression, and errors that do not depend on the object."""
