"""One container of a pod: what its status says of its past, and what comes next.

Nothing is remembered but the back-off: a controller that takes a pod over reads the rest from the
status. Times in it are whole seconds, as the API stores them.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kwokctl.controller.lifecycle.containers import restarts
from kwokctl.controller.lifecycle.containers.ending import Ending
from kwokctl.controller.lifecycle.containers.probes import ALL_WELL, ProbeFindings
from kwokctl.controller.lifecycle.containers.program import SIGKILL, ContainerProgram
from kwokctl.controller.lifecycle.containers.pulling import (
    BACKING_OFF,
    FAILED,
    events_of,
    message_of,
    pull_state,
    pulled,
)  # fmt: skip
from kwokctl.controller.lifecycle.events import PodEvent
from kwokctl.controller.lifecycle.moments import read_moment, write_moment
from kwokctl.controller.stages.identifiers import container_id, image_id
from kwokctl.json_value import Json

NEVER = math.inf
_BLUR = 1e-6
"""Seconds by which a due time may be missed: what is added to a time stamp is rounded."""
_SHOWN = 0.2
"""Seconds before a start in which kubelet 1.36 shows CrashLoopBackOff instead of the end."""
_END_SHOWN = 1.0
"""Seconds for which earlier kubelets show the end before the back-off."""
_PRESENT = ContainerProgram()
"""Whose image is there."""
_UNKNOWN = {
    "exitCode": SIGKILL,
    "reason": "ContainerStatusUnknown",
    "message": "The container could not be located when the pod was terminated",
}
"""What a container ends with that has never run when its pod ends."""


@dataclass(slots=True, kw_only=True)
class PodContainer:
    """A container, and how far it has come."""

    spec: Mapping[str, Any]
    program: ContainerProgram
    pod: Mapping[str, Any]
    """The metadata of its pod."""
    policy: str
    """The restart policy of its pod."""
    status: dict[str, Any]
    is_init: bool = False
    grace: float = 30.0
    """Seconds from the signal to end until it is killed."""
    reported: float = 0.0
    """Up to when its Events have been written, as a POSIX time stamp."""
    level: int = 0
    """How many starts its back-off counts."""
    due: float = NEVER
    """When something happens to it next."""
    events: list[PodEvent] = field(default_factory=list)
    probes: ProbeFindings = ALL_WELL

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.spec["name"])

    @property
    def is_sidecar(self) -> bool:
        """Whether it runs beside the others though it is an init container."""
        return self.is_init and restarts.is_sidecar(self.spec)

    @property
    def running(self) -> Json:
        """Its state if it runs, else None."""
        return self.status["state"].get("running")

    @property
    def ended(self) -> Json:
        """Its state if it has ended, else None."""
        return self.status["state"].get("terminated")

    @property
    def last_end(self) -> Json:
        """How it has ended the last time, whether it waits for its next start or not; else None."""
        return self.ended or (self.status.get("lastState") or {}).get("terminated")

    @property
    def has_tried(self) -> bool:
        """Whether it has run, or its image could not be pulled: its pod has an address then."""
        waiting = self.status["state"].get("waiting") or {}
        return bool(self.running or self.last_end or waiting.get("reason") in {FAILED, BACKING_OFF})

    @property
    def is_over(self) -> bool:
        """Whether it has ended and is not started again."""
        end = None if self.running else self.last_end
        return end is not None and not self._restarts(end["exitCode"])

    @property
    def is_done(self) -> bool:
        """Whether the next init container may start."""
        if self.is_sidecar:
            return bool(self.running and self.status.get("started"))
        return self.ended is not None and self.ended["exitCode"] == 0

    @property
    def done_at(self) -> float:
        """When that was."""
        if self.is_sidecar:
            return read_moment(self.running["startedAt"]) + self.probes.started
        return read_moment(self.ended["finishedAt"])

    def advance(self, now: float, since: float | None) -> None:
        """Let happen what is due; `since` is when it may start for the first time, None: not yet."""
        self.due = NEVER
        if self.running:
            self._run_on(now)
        elif self.last_end:
            self._return(now, self.last_end)
        elif since is not None:
            self._arrive(now, since)

    def stop(self, now: float, at: float, grace: float) -> None:
        """End it if its time after a signal at `at` is over by now; else it is due then."""
        self.due = NEVER
        if not self.running:
            return
        end, code = self._ending.after_signal(at, grace)
        if now < end:
            self.due = end
            return
        self._end(end, code)

    @property
    def _ending(self) -> Ending:
        started_at = read_moment(self.running["startedAt"])
        return Ending(self.program, self.spec, started_at, self.status["restartCount"])

    def note_stopping(self) -> None:
        """Report that it has got the signal."""
        if self.running:
            self.events.append(self._event("Killing", f"Stopping container {self.name}"))

    def give_up(self) -> None:
        """Say that it has ended though it is not known how."""
        if self.ended is None:
            self.status["state"] = {"terminated": dict(_UNKNOWN)}
            self.status["ready"] = self.status["started"] = False

    def _restarts(self, exit_code: int) -> bool:
        if self.is_init and not self.is_sidecar:
            return exit_code != 0 and restarts.restarts(self.spec, self._init_policy, exit_code)
        return restarts.restarts(self.spec, self.policy, exit_code)

    @property
    def _init_policy(self) -> str:
        """An init container that has succeeded is not run again, whatever the pod's policy."""
        return "OnFailure" if self.policy == "Always" else self.policy

    def _arrive(self, now: float, since: float) -> None:
        """Pull the image and start."""
        state = pull_state(self.program, since + self.program.start, now)
        image = self.spec.get("image", "")
        if state.is_done:
            self._note(pulled(self.program, image))
            self._start(state.until)
            return
        before = self.status["state"]["waiting"]["reason"]
        if state.reason and state.reason != before:
            self._note(events_of(state.reason, image))
            message = message_of(state.reason, image)
            self.status["state"] = {"waiting": {"reason": state.reason, "message": message}}
        self.due = state.until

    def _note(self, events: Iterable[tuple[str, str, str]]) -> None:
        self.events += [self._event(reason, text, type_) for type_, reason, text in events]

    def _run_on(self, now: float) -> None:
        started_at = read_moment(self.running["startedAt"])
        self._report(now, started_at)
        end, code = self._ending.by_itself(started_at + self.probes.killed, self.grace)
        if now >= end:
            is_killed = end >= started_at + self.probes.killed
            self._end(end, code)
            if is_killed:
                self._return(now, self.ended, is_killed=True)
            else:
                self.due = now
            return
        after = now - started_at + _BLUR
        self.status["started"] = after >= self.probes.started
        can_be_ready = self.is_sidecar or not self.is_init
        self.status["ready"] = can_be_ready and self.probes.is_ready(after)
        self.due = min(end, started_at + self.probes.next_change(after))

    def _report(self, now: float, started_at: float) -> None:
        """Report the probes that have failed since the last time."""
        if self.probes is ALL_WELL:
            return
        before, after = self.reported - started_at + _BLUR, now - started_at + _BLUR
        for message in self.probes.failures(before, after):
            self.events.append(self._event("Unhealthy", message, type_="Warning"))
        if before < self.probes.killed <= after:
            text = f"Container {self.name} failed {self.probes.killer} probe, will be restarted"
            self.events.append(self._event("Killing", text))

    def _return(self, now: float, end: Mapping[str, Any], *, is_killed: bool = False) -> None:
        """Start it again after an end, when its back-off is over.

        One that is killed for its probes is started in the same moment, and without a back-off the
        first two times: a kubelet looks then at how the run before has ended.
        """
        if not self._restarts(end["exitCode"]):
            return
        finished, ran = read_moment(end["finishedAt"]), restarts.ran(end)
        wait = restarts.pause(self.level, ran)
        begin, shown = finished + wait, finished + wait - self._shown(wait)
        if now >= begin:
            is_first = is_killed and self.status["restartCount"] == 0
            self.level = 0 if is_first else restarts.level_after(self.level, ran)
            self.status["lastState"] = {"terminated": dict(end)}
            self.status["restartCount"] += 1
            self._note(pulled(_PRESENT, self.spec.get("image", "")))
            self._start(begin)
            return
        if is_killed or now >= shown:
            self._back_off(end, wait)
        self._report_back_off(now, finished + _END_SHOWN)
        moments = (finished + _END_SHOWN, shown, begin)
        self.due = next(moment for moment in moments if moment > now)

    def _shown(self, wait: float) -> float:
        """Return for how long before a start its back-off is shown."""
        return wait - _END_SHOWN if self.program.shows_back_off else _SHOWN

    def _report_back_off(self, now: float, at: float) -> None:
        if self.reported < at <= now:
            text = f"Back-off restarting failed container {self.name} in pod {self._pod_name}"
            self.events.append(self._event("BackOff", text, type_="Warning"))

    @property
    def _pod_name(self) -> str:
        return f"{self.pod['name']}_{self.pod['namespace']}({self.pod['uid']})"

    def _back_off(self, end: Mapping[str, Any], wait: float) -> None:
        about = f"container={self.name} pod={self._pod_name}"
        message = f"back-off {restarts.written(wait)} restarting failed {about}"
        self.status["lastState"] = {"terminated": dict(end)}
        self.status["state"] = {"waiting": {"reason": "CrashLoopBackOff", "message": message}}

    def _start(self, at: float) -> None:
        uid, count = self.pod["uid"], self.status["restartCount"]
        run = self.name if count == 0 else f"{self.name}#{count}"
        self.status["containerID"] = container_id(uid, run)
        self.status["imageID"] = image_id(self.spec.get("image", ""))
        self.status["state"] = {"running": {"startedAt": write_moment(at)}}
        self.events.append(self._event("Created", "Container created"))
        self.events.append(self._event("Started", "Container started"))
        self.due = NEVER
        self._run_on(at)

    def _end(self, at: float, code: int) -> None:
        killed = self.program.is_killed and code == SIGKILL
        self.status["state"] = {
            "terminated": {
                "exitCode": code,
                "reason": "OOMKilled" if killed else "Error" if code else "Completed",
                "startedAt": self.running["startedAt"],
                "finishedAt": write_moment(at),
                "containerID": self.status["containerID"],
            }
        }
        is_complete = self.is_init and not self.is_sidecar and code == 0
        self.status["ready"], self.status["started"] = is_complete, False

    def _event(self, reason: str, message: str, type_: str = "Normal") -> PodEvent:
        part = "initContainers" if self.is_init else "containers"
        return PodEvent(
            type=type_, reason=reason, message=message, field=f"spec.{part}{{{self.name}}}"
        )
