"""The fake nodes and the pods on them, as far as the kubelet server needs them."""
