"""The data plane: the port through which fake kubelets and `scale` write to a cluster, and its adapters."""
