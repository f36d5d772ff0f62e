"""The documents that decide what the kubelet server answers: those in force, and the one for a pod."""
