"""Whether a node takes a pod, as its kubelet decides it: pure functions of the pod and of the node."""
