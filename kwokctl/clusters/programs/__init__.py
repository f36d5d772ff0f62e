"""Programs and images of a cluster: which it needs and where they come from."""
