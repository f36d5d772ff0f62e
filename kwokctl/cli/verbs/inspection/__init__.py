"""What components write, and where they listen: `logs`, `export logs`, `port-forward`."""
