"""The controller in a cluster: the objects of which `controller manifest` and the chart consist."""
