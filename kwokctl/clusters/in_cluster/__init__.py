"""The controller in a cluster: the objects that `controller manifest` prints and the chart contains."""
