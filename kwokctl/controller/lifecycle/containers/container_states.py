"""The states that a kubelet reports of one container: before it runs, while it waits, and when it has ended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kwokctl.controller.lifecycle.containers.container_program import SIGKILL
from kwokctl.controller.lifecycle.moments import write_moment
from kwokctl.controller.lifecycle.pod_events import PodEvent
from kwokctl.expr.gotemplate.symbols import deferring
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


def restored_status(
    known: Mapping[str, Any], spec: Mapping[str, Any], *, has_init: bool
) -> dict[str, Json]:
    """Return a status without a state, as a client's patch of the list leaves it, as that before the first start.

    The start is computed again from the start of the pod, as it was the first time.
    """
    left = {name: part for name, part in known.items() if part}
    return {**fresh_status(spec, has_init=has_init), **left}


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


class Part(NamedTuple):
    """A kind of containers."""

    spec: str
    """The field of the spec that lists them."""
    statuses: str
    """The field of the status."""


INIT = Part("initContainers", "initContainerStatuses")
REGULAR = Part("containers", "containerStatuses")
EPHEMERAL = Part("ephemeralContainers", "ephemeralContainerStatuses")


@deferring
def _about_pod(words: str, name: str, namespace: str, uid: str) -> str:
    return f"{words}{name}_{namespace}({uid})"


@dataclass(slots=True, kw_only=True)
class ReportedContainer:
    """A container, and the Events about it that are to be written."""

    spec: Mapping[str, Any]
    pod: Mapping[str, Any]
    """The metadata of its pod."""
    part: Part = REGULAR
    reported: float = 0.0
    """Up to when its Events have been written, as a POSIX time stamp."""
    events: list[PodEvent] = field(default_factory=list)
    is_restored: bool = False
    """Whether its state was lost, and is computed again: its Events have been written."""

    def about_pod(self, words: str) -> str:
        """Return a message that ends with the name of its pod, as a kubelet writes that."""
        pod = self.pod
        message: str = _about_pod(words, pod["name"], pod["namespace"], pod["uid"])
        return message

    def report(self, reason: str, message: str, type_: str = "Normal") -> None:
        """Report that something happens to it."""
        if self.is_restored:
            return
        place = f"spec.{self.part.spec}{{{self.spec['name']}}}"
        self.events.append(PodEvent(type=type_, reason=reason, message=message, field=place))

    def report_all(self, events: Iterable[tuple[str, str, str]]) -> None:
        """Report several things: type, reason and message of each."""
        for type_, reason, message in events:
            self.report(reason, message, type_)

    def report_start(self) -> None:
        """Report that it runs."""
        self.report("Created", "Container created")
        self.report("Started", "Container started")

    def report_killing(self, why: str) -> None:
        """Report that it gets the signal to end."""
        self.report("Killing", f"Container {self.spec['name']} {why}")

    def report_back_off(self, now: float, at: float) -> None:
        """Report once, when its time has come, that it is not started again yet."""
        if self.reported < at <= now:
            words = f"Back-off restarting failed container {self.spec['name']} in pod "
            self.report("BackOff", self.about_pod(words), "Warning")
