"""The shapes of API objects: what an API server surely decodes."""

from kwokctl.dataplane.shapes.checking import check, check_status

__all__ = ["check", "check_status"]
