"""Programs whose input and output are connected to other streams while they run."""
