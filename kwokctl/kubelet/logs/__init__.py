"""The logs of containers: their sources, and the selection of the lines that a client requests."""
