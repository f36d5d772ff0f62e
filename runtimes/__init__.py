"""The runtimes: places where components can live. Found by name through `kwokctl.registry`."""
