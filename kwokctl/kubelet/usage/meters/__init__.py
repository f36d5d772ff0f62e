"""The present usage of containers, pods and nodes, and their counters."""
