"""The runtimes, which run the components of clusters: found by name through `kwokctl.registry`."""
