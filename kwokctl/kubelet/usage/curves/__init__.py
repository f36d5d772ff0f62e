"""Usage as functions of the age of a container, with their integrals."""
