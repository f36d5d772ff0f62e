"""Making the node of a cluster with kind."""
