"""The certificates of a cluster, and who signs them."""
