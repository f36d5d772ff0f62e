"""The documents that say what the kubelet server answers: finds them, and the one for a pod."""
