"""How fake kubelets and `scale` write to a cluster."""
