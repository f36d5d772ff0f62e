"""The conditions and the phase of a pod, as a kubelet derives them from its containers.

The conditions are those that a kubelet owns (pkg/kubelet/status/generate.go of 1.36); the phase is computed as by
kubelet 1.36 (`getPhase`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kwokctl.controller.lifecycle import whole_restart
from kwokctl.controller.lifecycle.containers.container import PodContainer
from kwokctl.controller.lifecycle.moments import write_moment
from kwokctl.json_value import Json

TERMINAL = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}
"""The reason in the conditions of readiness of a pod with a terminal phase."""
_OWN = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled", whole_restart.RESTARTING)  # fmt: skip
_Finding = tuple[bool, str, str]
"""Whether a condition holds, the reason and the message."""
_HOLDS: _Finding = (True, "", "")


def conditions_of(
    pod: Mapping[str, Any],
    containers: Sequence[PodContainer],
    phase: str,
    now: float,
    *,
    has_sandbox: bool,
    is_restarting: bool | None = None,
) -> list[Json]:
    """Return all conditions of a pod: each where it stood, those of others as they are, then new ones.

    So a condition that another client adds is no reason to write. The API server adds one before it evicts a pod, and
    refuses the eviction of a pod that has been changed since.

    `is_restarting` says whether it is restarted as a whole; None if it cannot be.
    """
    before = {each["type"]: each for each in pod["status"].get("conditions") or ()}
    ready = _containers_ready(containers, phase)
    found = {
        "PodReadyToStartContainers": (has_sandbox, "", ""),
        "Initialized": _initialized(containers, phase),
        "Ready": ready if not ready[0] else _gates(pod, before),
        "ContainersReady": ready,
        "PodScheduled": _HOLDS,
    }
    generation = pod["metadata"].get("generation")
    if is_restarting is not None:
        found[whole_restart.RESTARTING] = (is_restarting, TERMINAL.get(phase, ""), "")
    own = {
        name: _written(name, each, before.get(name), generation, now)
        for name, each in found.items()
    }
    kept = {
        name: own.get(name, each)
        for name, each in before.items()
        if name in own or name not in _OWN
    }
    return [*(kept | own).values()]


def _containers_ready(containers: Sequence[PodContainer], phase: str) -> _Finding:
    if reason := TERMINAL.get(phase):
        return False, reason, ""
    counted = [each for each in containers if not each.is_init or each.is_sidecar]
    unready = [each.name for each in counted if not each.status["ready"]]
    if unready:
        names = " ".join(unready)
        return False, "ContainersNotReady", f"containers with unready status: [{names}]"
    return _HOLDS


def _initialized(containers: Sequence[PodContainer], phase: str) -> _Finding:
    if phase == "Succeeded":
        return True, "PodCompleted", ""
    if any(each.running or each.last_end for each in containers if not each.is_init):
        return _HOLDS
    waiting = [each.name for each in containers if each.is_init and not each.is_done]
    if waiting:
        names = " ".join(waiting)
        message = f"containers with incomplete status: [{names}]"
        return False, "ContainersNotInitialized", message
    return _HOLDS


def _gates(pod: Mapping[str, Any], before: Mapping[str, Json]) -> _Finding:
    missing = []
    for gate in pod["spec"].get("readinessGates") or ():
        name = gate["conditionType"]
        condition = before.get(name)
        if condition is None:
            missing.append(
                f'corresponding condition of pod readiness gate "{name}" does not exist.'
            )
        elif condition["status"] != "True":
            status = condition["status"]
            missing.append(f'the status of pod readiness gate "{name}" is not "True", but {status}')
    return (False, "ReadinessGatesNotReady", ", ".join(missing)) if missing else _HOLDS


def _written(
    name: str, found: _Finding, before: Json, generation: int | None, now: float
) -> dict[str, Json]:
    """Write a condition; its time is that of its last change of status."""
    holds, reason, message = found
    status = "True" if holds else "False"
    is_same = before is not None and before["status"] == status
    if is_same and _is_said(before, reason, message, generation):
        known: dict[str, Json] = before
        return known
    written: dict[str, Json] = {"type": name, "status": status}
    if before is not None and "lastProbeTime" in before:
        written["lastProbeTime"] = before["lastProbeTime"]
    written["lastTransitionTime"] = before["lastTransitionTime"] if is_same else write_moment(now)
    if generation:
        written["observedGeneration"] = generation
    if reason:
        written["reason"] = reason
    if message:
        written["message"] = message
    return written


def _is_said(before: Json, reason: str, message: str, generation: int | None) -> bool:
    """Return whether a condition says the same already."""
    said = before.get("reason", ""), before.get("message", ""), before.get("observedGeneration")
    return said == (reason, message, generation)


def phase_of(containers: Sequence[PodContainer], *, has_ended: bool) -> str:
    """Return the phase; `has_ended` says that no container is started any more."""
    first = [each for each in containers if each.is_init and not each.is_sidecar]
    sidecars = [each for each in containers if each.is_sidecar]
    regular = [each for each in containers if not each.is_init]
    if any(each.is_over and not each.is_done for each in first):
        return "Failed"
    if _is_pending(first, sidecars, regular):
        return "Pending"
    if any(each.running for each in (*sidecars, *regular)):
        return "Running"
    return _phase_of_ended(regular, has_ended=has_ended)


def _is_pending(
    first: Sequence[PodContainer], sidecars: Sequence[PodContainer], regular: Sequence[PodContainer]
) -> bool:
    has_begun = any(each.running or each.last_end for each in regular)
    if any(each.running or each.last_end is None for each in first):
        return True
    if not has_begun and any(not each.status.get("started") for each in sidecars):
        return True
    return any(not each.running and each.last_end is None for each in regular)


def _phase_of_ended(regular: Sequence[PodContainer], *, has_ended: bool) -> str:
    if not has_ended and any(not each.is_over for each in regular):
        return "Running"
    succeeded = all(each.ended and each.ended["exitCode"] == 0 for each in regular)
    return "Succeeded" if succeeded else "Failed"
