"""Shared by the embedded processes, controller and kubelet server: flags, logging, the selection of nodes."""
