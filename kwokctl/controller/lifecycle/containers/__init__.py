"""One container of a pod: what its program does, its probes, its image, and when it is restarted."""
