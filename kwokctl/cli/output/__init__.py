"""Everything that is written to a terminal, a pipe or a log."""
