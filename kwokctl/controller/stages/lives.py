"""By whose rules a pod lives: its annotation says it, else the cluster has one answer for all pods."""

LIFE = "kwokctl.dev/life"
"""The annotation."""
KUBELET, STAGES = "kubelet", "stages"
"""Its values."""
