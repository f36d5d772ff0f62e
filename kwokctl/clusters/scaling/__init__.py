"""The parts of scaling: requests, templates, members, creation, deletion and waiting."""

__all__ = [
    "changes",
    "cluster_reader",
    "companions",
    "context",
    "objects",
    "ready_objects",
    "routes",
    "scale_request",
    "set_admission",
    "set_size",
]
