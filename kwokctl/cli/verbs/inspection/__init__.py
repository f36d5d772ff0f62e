"""Commands that show the state of a cluster: `status`, `logs`, `export logs`, `port-forward`."""
