"""The statuses that every API server certainly decodes, and takes."""

from kwokctl.kube.statuses.change import changed_parts, check_change, takes_any_text
from kwokctl.kube.statuses.decodable import check_status
from kwokctl.kube.statuses.pod_rules import DEVICES_FIELD

__all__ = [
    "DEVICES_FIELD",
    "changed_parts",
    "check_change",
    "check_status",
    "leaves",
    "takes_any_text",
]
