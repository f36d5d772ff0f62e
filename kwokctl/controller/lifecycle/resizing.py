"""Resources of containers, and how they are changed in place: announced in one write, done in the next."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import orjson

from kwokctl.controller.lifecycle.containers.container import PodContainer
from kwokctl.controller.lifecycle.moments import read_moment, write_moment
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.json_value import Json

_IN_PROGRESS = "PodResizeInProgress"


class Resize(msgspec.Struct, frozen=True):
    """The outcome of a resize of a pod."""

    conditions: list[Json]
    is_in_progress: bool = False
    waits: bool = False
    """Whether that goes on until containers have been restarted."""
    events: tuple[PodEvent, ...] = ()

    def status(self, container: PodContainer) -> dict[str, Json]:
        """Return the status of a container with its resources: those requested now, if it runs."""
        status = container.status
        if not container.running:
            return status
        resources = _wanted(container)
        if not self.is_in_progress or "resources" not in status:
            status["resources"] = resources
        if requests := resources.get("requests"):
            status["allocatedResources"] = requests
        return status


def resize(
    containers: Sequence[PodContainer], conditions: list[Json], meta: Mapping[str, Any], now: float
) -> Resize:
    """Return what is written of the resources of a pod with these conditions."""
    others = [each for each in conditions if each["type"] != _IN_PROGRESS]
    if len(others) < len(conditions):
        if any(_is_replaced(each) for each in containers):
            return Resize(conditions, is_in_progress=True, waits=True)
        return Resize(others, events=(_event("ResizeCompleted", "completed", containers, meta),))
    if not any(_differs(each) for each in containers):
        return Resize(conditions)
    condition = {
        "type": _IN_PROGRESS,
        "status": "True",
        "observedGeneration": meta.get("generation"),
        "lastProbeTime": None,
        "lastTransitionTime": write_moment(now),
    }
    for each in containers:
        if _is_replaced(each):
            each.report_killing("resize requires restart")
    started = _event("ResizeStarted", "started", containers, meta)
    return Resize([*others, condition], is_in_progress=True, events=(started,))


def let_replace(containers: Sequence[PodContainer], conditions: Sequence[Json]) -> None:
    """Restart the containers whose resources only a restart can change."""
    found = next((each for each in conditions if each["type"] == _IN_PROGRESS), None)
    if found is None:
        return
    for each in containers:
        if _is_replaced(each):
            each.replaced_at = read_moment(found["lastTransitionTime"])


def _is_replaced(container: PodContainer) -> bool:
    """Return whether a resource differs that its `resizePolicy` changes by a restart."""
    if not _differs(container):
        return False
    known, wanted = container.status["resources"], _wanted(container)
    return any(
        policy.get("restartPolicy") == "RestartContainer"
        and _amounts(known, policy["resourceName"]) != _amounts(wanted, policy["resourceName"])
        for policy in container.spec.get("resizePolicy") or ()
    )


def _amounts(resources: Mapping[str, Any], name: str) -> tuple[Json, Json]:
    return (
        (resources.get("requests") or {}).get(name),
        (resources.get("limits") or {}).get(name),
    )


def _differs(container: PodContainer) -> bool:
    known = container.status.get("resources")
    return bool(container.running) and known is not None and known != _wanted(container)


def _wanted(container: PodContainer) -> dict[str, Json]:
    resources = dict(container.spec.get("resources") or {})
    resources.pop("claims", None)
    return resources


def _event(
    reason: str, word: str, containers: Sequence[PodContainer], meta: Mapping[str, Any]
) -> PodEvent:
    summary: dict[str, Json] = {}
    for each in containers:
        body = {"name": each.name, "resources": dict(each.spec.get("resources") or {})}
        summary.setdefault(each.part.spec, []).append(body)
    summary["generation"] = meta.get("generation")
    return PodEvent(reason=reason, message=f"Pod resize {word}: {orjson.dumps(summary).decode()}")
