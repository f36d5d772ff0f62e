"""What there is to see of a cluster: `status`, `logs`, `export logs`, `port-forward`."""
