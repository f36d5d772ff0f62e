"""The shapes of statuses: what an API server surely decodes."""

from kwokctl.dataplane.shapes.checking import check_status

__all__ = ["check_status"]
