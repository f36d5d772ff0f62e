"""Where the metrics of components are, how often nodes are measured, and what Prometheus scrapes."""
