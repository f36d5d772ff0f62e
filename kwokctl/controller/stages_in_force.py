"""Describes for `scale` what is played on new nodes and pods, so that it plays the same."""

from hashlib import sha256
from typing import Any

import msgspec

from kwokctl.controller.settings import Settings
from kwokctl.dataplane.scale_protocol import PlayedStages

_KINDS = frozenset({"Node", "Pod"})


def stages_in_force(settings: Settings, *, manager: str, started: str) -> PlayedStages:
    """Return what a controller plays that has `started` then, and writes as `manager`."""
    kubelet = settings.kubelet
    found = PlayedStages(
        stages=[body for body in settings.stage_documents if _is_for_scale(body)],
        selection=dict(settings.selecting),
        node_ip=kubelet.ip,
        node_name=kubelet.name,
        node_port=kubelet.port,
        started=started,
        manager=manager,
    )
    found.generation = sha256(msgspec.json.encode(found)).hexdigest()
    return found


def _is_for_scale(body: dict[str, Any]) -> bool:
    reference = (body.get("spec") or {}).get("resourceRef") or {}
    return reference.get("kind") in _KINDS
