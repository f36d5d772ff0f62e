"""Programs whose input and output others follow while they run."""
