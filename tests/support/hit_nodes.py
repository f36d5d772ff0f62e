"""Open faults of nodes as their annotation says them: what the reconciler writes."""

from collections.abc import Mapping
from typing import Any

from kwokctl.faults.overlays.open_entries import OPEN_FAULTS, OpenEntry, entries_text

SINCE = 1_800_000_000.0


def hit(fault: str = "f", **more: Any) -> OpenEntry:
    """Return the entry of a fault that began at SINCE."""
    usual: dict[str, Any] = {
        "fault": fault, "uid": f"uid-{fault}", "class_name": "some", "since": SINCE,
    }  # fmt: skip
    return OpenEntry(**usual | more)


def hit_by(*entries: OpenEntry) -> Mapping[str, str]:
    """Return the annotations of a node on which these are open."""
    return {OPEN_FAULTS: entries_text(entries)}
