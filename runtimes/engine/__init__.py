"""What runtimes share that place components with a container engine."""
