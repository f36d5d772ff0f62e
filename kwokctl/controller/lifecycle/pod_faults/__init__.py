"""The faults of nodes as pods suffer them that live as on a kubelet."""
