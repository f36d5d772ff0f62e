"""Events that fake kubelets create, and how they are written to etcd."""
