"""kwokctl: a real Kubernetes control plane with thousands of fake nodes."""

__version__ = "0.1.0"
