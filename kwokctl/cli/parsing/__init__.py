"""From the words of a command line to checked values."""
