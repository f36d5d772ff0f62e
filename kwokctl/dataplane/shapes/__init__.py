"""The shapes of statuses that every API server certainly decodes."""

from kwokctl.dataplane.shapes.checking import check_status

__all__ = ["check_status"]
