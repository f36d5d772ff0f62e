"""Patches as the API server applies them. Pure."""

__all__ = [
    "apply_patch",
    "directed_merge",
    "equality",
    "field_sets",
    "managed_fields",
    "merge_diff",
    "unknown_patch",
]
