"""The states in a container's status: before it runs, while it waits, and when it has ended."""

from collections.abc import Mapping
from typing import Any

from kwokctl.controller.lifecycle.containers.program import SIGKILL
from kwokctl.controller.lifecycle.moments import write_moment
from kwokctl.json_value import Json

_CREATING, _INITIALIZING = "ContainerCreating", "PodInitializing"
_UNKNOWN = 255
"""The exit code of a container whose real exit code is unknown."""
BEFORE = frozenset((_CREATING, _INITIALIZING))
"""Why a container waits whose turn has not come, or has just come."""


def first_state(*, has_init: bool) -> dict[str, Json]:
    """Return the state of a container that waits for its turn."""
    return {"waiting": {"reason": _INITIALIZING if has_init else _CREATING}}


def fresh_status(spec: Mapping[str, Any], *, has_init: bool) -> dict[str, Json]:
    """Return the status of a container that waits for its first start."""
    status: dict[str, Json] = {
        "name": spec["name"],
        "image": spec.get("image", ""),
        "imageID": "",
        "ready": False,
        "started": False,
        "restartCount": 0,
        "state": first_state(has_init=has_init),
        "lastState": {},
    }
    if mounts := spec.get("volumeMounts"):
        status["volumeMounts"] = [_mount(each) for each in mounts]
    return status


def back_off_state(message: str) -> dict[str, Json]:
    """Return the state of a container that waits for its next start."""
    return {"waiting": {"reason": "CrashLoopBackOff", "message": message}}


def ended_state(
    status: Mapping[str, Any], at: float, code: int, *, has_no_memory: bool
) -> dict[str, Json]:
    """Return the state of a container that has run until now; `has_no_memory` is why it was killed."""
    return {
        "terminated": {
            "exitCode": code,
            "reason": "OOMKilled" if has_no_memory else "Error" if code else "Completed",
            "startedAt": status["state"]["running"]["startedAt"],
            "finishedAt": write_moment(at),
            "containerID": status["containerID"],
        }
    }


def unknown_state(status: Mapping[str, Any], at: float) -> dict[str, Json]:
    """Return the state of a container that has not ended by itself, but with its machine.

    As containerd finds it after that (internal/cri/server/restart.go).
    """
    return {
        "terminated": {
            "exitCode": _UNKNOWN,
            "reason": "Unknown",
            "startedAt": status["state"]["running"]["startedAt"],
            "finishedAt": write_moment(at),
            "containerID": status.get("containerID", ""),
        }
    }


def lost_state() -> dict[str, Json]:
    """Return the state of a container that has never run when its pod ends."""
    return {
        "terminated": {
            "exitCode": SIGKILL,
            "reason": "ContainerStatusUnknown",
            "message": "The container could not be located when the pod was terminated",
        }
    }


def _mount(mount: Mapping[str, Any]) -> dict[str, Json]:
    found: dict[str, Json] = {"name": mount["name"], "mountPath": mount["mountPath"]}
    if mount.get("readOnly"):
        is_recursive = mount.get("recursiveReadOnly") in {"Enabled", "IfPossible"}
        found |= {
            "readOnly": True,
            "recursiveReadOnly": "Enabled" if is_recursive else "Disabled",
        }
    return found
