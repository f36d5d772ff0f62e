"""What is done to a machine, as values, and as a script for a POSIX shell."""
