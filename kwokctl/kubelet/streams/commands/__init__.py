"""Exec: commands that documents of the kinds Exec and ClusterExec allow, on the kubelet server's host."""
