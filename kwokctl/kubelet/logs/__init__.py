"""The logs of containers: which lines there are, and which of them are requested."""
