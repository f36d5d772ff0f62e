"""The state of the GPUs of fake nodes, and what an exporter of DCGM says of it."""

__all__ = ["gpu_pages", "gpu_state", "nvidia_smi"]
