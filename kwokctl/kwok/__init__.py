"""The command `kwok`: the controller and the kubelet server in one process, for any cluster."""

__all__ = ["flags"]
