"""Changes of a machine as values, which are carried out or written as a script for a POSIX shell."""
