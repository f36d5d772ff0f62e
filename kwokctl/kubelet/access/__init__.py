"""Authentication and authorization of the kubelet server's clients."""
