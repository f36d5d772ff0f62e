"""The training of a gang: steps, checkpoints, what is lost when it stops, and what follows from that. Pure."""
