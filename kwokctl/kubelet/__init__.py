"""The kubelet server: answers as the kubelet of every fake node. A process of its own."""
