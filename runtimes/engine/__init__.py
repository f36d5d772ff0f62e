"""What the runtimes share that use a container engine."""
