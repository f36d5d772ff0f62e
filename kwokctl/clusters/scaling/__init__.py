"""The parts of scaling: requests, templates, members, creation, deletion and waiting."""

__all__ = [
    "changes",
    "cluster_reader",
    "context",
    "objects",
    "ready_objects",
    "scale_request",
    "set_admission",
    "set_size",
]
