"""One container of a pod: what its program does, its probes, its image, and when it is restarted."""

__all__ = [
    "container",
    "container_program",
    "container_states",
    "find_program",
    "probes",
    "pulling",
    "restarts",
    "spoilt_program",
]
