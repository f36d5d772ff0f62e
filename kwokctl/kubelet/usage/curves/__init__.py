"""What is used at a time, as functions of the age of a container, with their integrals."""
