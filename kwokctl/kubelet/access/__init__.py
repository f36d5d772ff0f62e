"""Who asks the kubelet server, and what they may ask for."""
